package dev.weir.redis;

import java.util.function.LongConsumer;

/** Gives permits back. */
final class Refund extends Question {
  private final RedisLimit limit;
  private final byte[] key;
  private final long permits;
  private final long atNanos;
  private final long resetNanos;
  private final LongConsumer done;
  private long given;

  /** Gives back what nobody waits for. */
  Refund(RedisLimit limit, long fingerprint, long permits, long atNanos, long resetNanos) {
    this(limit, fingerprint, permits, atNanos, resetNanos, given -> {});
  }

  Refund(
      RedisLimit limit,
      long fingerprint,
      long permits,
      long atNanos,
      long resetNanos,
      LongConsumer done) {
    this.limit = limit;
    key = limit.key(fingerprint);
    this.permits = permits;
    this.atNanos = atNanos;
    this.resetNanos = resetNanos;
    this.done = done;
  }

  /** Returns how many permits are to be given back. */
  long asked() {
    return permits;
  }

  @Override
  byte[] key() {
    return key;
  }

  @Override
  void write(Message message) {
    message.refund(limit, key, permits, atNanos, resetNanos);
  }

  @Override
  void read(MessageReader reply) {
    given = reply.number();
  }

  @Override
  void answer() {
    done.accept(given);
  }

  @Override
  void fail(Failure failure) {
    done.accept(0);
  }
}
