package dev.weir.engine.seats;

/** The results of a renewal of a seat, or of giving it back. */
public enum SeatOutcome {
  /** The seat was held, and is held for another hold, or is given back. */
  DONE,
  /** The seat was not held any more: it was given back before, or was not renewed in time. */
  LOST,
  /**
   * The store did not answer, or there are no rules yet. The seat is held until its end, unless it
   * was given back. The same call may be sent again.
   */
  UNCERTAIN
}
