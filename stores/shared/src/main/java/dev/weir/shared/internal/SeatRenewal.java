package dev.weir.shared.internal;

import dev.weir.Renewal;
import dev.weir.shared.Call;
import dev.weir.shared.Failure;
import dev.weir.shared.Reply;
import dev.weir.shared.SharedBinding;
import java.util.function.Consumer;

/** An operation that renews a seat. */
public final class SeatRenewal extends Operation {
  private final SharedBinding binding;
  private final long fingerprint;
  private final long atNanos;
  private final Consumer<? super Renewal> done;
  private boolean held;

  /**
   * Creates a renewal.
   *
   * @param atNanos the instant at which the seat was taken
   */
  public SeatRenewal(
      SharedBinding binding, long fingerprint, long atNanos, Consumer<? super Renewal> done) {
    this.binding = binding;
    this.fingerprint = fingerprint;
    this.atNanos = atNanos;
    this.done = done;
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
    call.renew(binding, fingerprint, atNanos);
  }

  @Override
  public void read(Reply reply) {
    held = reply.number() > 0;
  }

  @Override
  public void answer() {
    done.accept(held ? Renewal.RENEWED : Renewal.LOST);
  }

  @Override
  public void fail(Failure failure) {
    done.accept(Renewal.UNANSWERED);
  }
}
