package dev.weir.testkit;

/** Reservations in memory. */
class ReservationTest extends ReservationContract {}
