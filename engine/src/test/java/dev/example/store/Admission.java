package dev.example.store;

import dev.weir.Policy;

/** Permits that were admitted, when, and under which policy. */
record Admission(long atNanos, long permits, Policy policy) {}
