package dev.weir.server.internal.grpc;

import dev.weir.rules.Rule;
import org.jspecify.annotations.Nullable;

/**
 * A bucket of one Envoy that has an assignment. It keeps none of the bucket's texts. Confined to
 * its stream.
 */
final class QuotaBucket {
  /** The approximate bytes of a bucket, with its place among the others of the stream. */
  static final long BYTES = 128;

  /** The time of the last report of the bucket, and of the last one with requests. */
  long reportedAtNanos;

  long usedAtNanos;

  /** The rule of the bucket, in one revision of the rules. */
  private @Nullable Rule rule;

  private long revision = -1;

  QuotaBucket(long nowNanos) {
    reportedAtNanos = nowNanos;
    usedAtNanos = nowNanos;
  }

  /** Returns the bucket's rule in a revision of the rules; null if it is not known. */
  @Nullable Rule rule(long inForce) {
    return revision == inForce ? rule : null;
  }

  void rule(Rule found, long inForce) {
    rule = found;
    revision = inForce;
  }
}
