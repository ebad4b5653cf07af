package dev.weir.shared;

import java.util.function.LongConsumer;

/** Gives permits back. */
final class Refund extends Operation {
  private final SharedBinding binding;
  private final long fingerprint;
  private final long permits;
  private final long atNanos;
  private final long resetNanos;
  private final LongConsumer done;
  private long given;

  /** Gives permits back without a callback. */
  Refund(SharedBinding binding, long fingerprint, long permits, long atNanos, long resetNanos) {
    this(binding, fingerprint, permits, atNanos, resetNanos, given -> {});
  }

  Refund(
      SharedBinding binding,
      long fingerprint,
      long permits,
      long atNanos,
      long resetNanos,
      LongConsumer done) {
    this.binding = binding;
    this.fingerprint = fingerprint;
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
  SharedBinding binding() {
    return binding;
  }

  @Override
  long fingerprint() {
    return fingerprint;
  }

  @Override
  void write(Call call) {
    call.refund(binding, fingerprint, permits, atNanos, resetNanos);
  }

  @Override
  void read(Reply reply) {
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
