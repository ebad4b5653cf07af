package dev.weir.adaptive;

/** The steps of {@link AdaptiveAlgorithm#AIMD}, and the decrease that all algorithms share. */
final class Aimd {
  /** The part of the limit that is left when a request is dropped. */
  private static final double DECREASE = 0.9;

  private Aimd() {}

  /** Returns the state after a window in use in which no request was dropped. */
  static Estimate step(Estimate before, Bounds bounds) {
    return before.withLimit(bounds.clamp(before.limit() + 1));
  }

  /** Returns the state after a drop: a tenth less, and at least one whole permit. */
  static Estimate dropped(Estimate before, Bounds bounds) {
    double limit = Math.min(before.limit() * DECREASE, before.limit() - 1);
    return new Estimate(
        bounds.clamp(limit), before.baseNanos(), before.learnt(), false, before.rest());
  }
}
