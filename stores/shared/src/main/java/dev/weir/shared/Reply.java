package dev.weir.shared;

/**
 * The answer of a shard to a call, to be read once and in order: the instant, then each operation's
 * part. Not safe for use by several threads at once.
 *
 * <p>Every method may throw {@link IllegalArgumentException} if the reply is invalid.
 */
public interface Reply {
  /** Reads the instant by which the call was decided, in nanoseconds on the shard's scale. */
  long nowNanos();

  /** Reads a number: a count, or 1 or 0 for yes or no. */
  long number();

  /** Reads the result of one charge. */
  Result result();
}
