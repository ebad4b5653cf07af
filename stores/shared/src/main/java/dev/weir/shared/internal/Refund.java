package dev.weir.shared.internal;

import dev.weir.shared.Call;
import dev.weir.shared.Failure;
import dev.weir.shared.Reply;
import dev.weir.shared.SharedBinding;
import java.util.function.LongConsumer;

/** An operation that gives permits back. */
public final class Refund extends Operation {
  private final SharedBinding binding;
  private final long fingerprint;
  private final long permits;
  private final long atNanos;
  private final long resetNanos;
  private LongConsumer done;
  private long given;

  /** Creates a refund without a callback. */
  Refund(SharedBinding binding, long fingerprint, long permits, long atNanos, long resetNanos) {
    this(binding, fingerprint, permits, atNanos, resetNanos, given -> {});
  }

  public Refund(
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

  /** Sets the receiver of the number of permits that were given back. */
  public void then(LongConsumer receiver) {
    done = receiver;
  }

  /** Returns the instant at which the key would have reset after the charge. */
  long resetNanos() {
    return resetNanos;
  }

  /** Returns the number of permits to give back. */
  public long requested() {
    return permits;
  }

  @Override
  public SharedBinding binding() {
    return binding;
  }

  @Override
  public long fingerprint() {
    return fingerprint;
  }

  @Override
  public void write(Call call) {
    call.refund(binding, fingerprint, permits, atNanos, resetNanos);
  }

  @Override
  public void read(Reply reply) {
    given = reply.number();
  }

  @Override
  public void answer() {
    done.accept(given);
  }

  @Override
  public void fail(Failure failure) {
    done.accept(0);
  }
}
