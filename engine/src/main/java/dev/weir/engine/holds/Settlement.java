package dev.weir.engine.holds;

/**
 * The result of the settlement of a hold.
 *
 * @param outcome the effect
 * @param returned the permits that were given back, of all descriptors together
 * @param charged the permits that were counted in addition, of all descriptors together
 */
public record Settlement(Outcome outcome, long returned, long charged) {
  /** The effects of a settlement. */
  public enum Outcome {
    /** The hold was replaced by the cost. */
    SETTLED,
    /** The hold was settled before; nothing has changed. */
    SETTLED_BEFORE,
    /** The life of the hold is over. Nothing was given back; what is more was counted. */
    LATE,
    /**
     * The store could not decide whether the hold was settled before: nothing was given back. The
     * same settlement may be sent again.
     */
    UNCERTAIN
  }
}
