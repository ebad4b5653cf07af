package dev.weir;

/** Takes what a store finds out about requests; ranges and units are those of {@link Decision}. */
interface Results {
  void result(
      int i,
      Reason reason,
      long remaining,
      long retryAfterNanos,
      long resetAfterNanos,
      long atNanos);
}
