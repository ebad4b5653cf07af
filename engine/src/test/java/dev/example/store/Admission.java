package dev.example.store;

import dev.weir.Policy;

/** An admission of permits, with its instant and its policy. */
record Admission(long atNanos, long permits, Policy policy) {}
