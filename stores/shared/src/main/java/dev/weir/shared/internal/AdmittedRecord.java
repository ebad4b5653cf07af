package dev.weir.shared.internal;

import dev.weir.Reason;
import dev.weir.shared.Call;
import dev.weir.shared.Failure;
import dev.weir.shared.Reply;
import dev.weir.shared.Result;
import dev.weir.shared.SharedBinding;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An operation that records permits that this process has already admitted. */
public final class AdmittedRecord extends Operation {
  private final SharedBinding binding;
  private final long fingerprint;
  private final long permits;
  private final Consumer<Result> recorded;
  private final Consumer<Failure> failed;
  private @Nullable Result result;

  public AdmittedRecord(
      SharedBinding binding,
      long fingerprint,
      long permits,
      Consumer<Result> recorded,
      Consumer<Failure> failed) {
    this.binding = binding;
    this.fingerprint = fingerprint;
    this.permits = permits;
    this.recorded = recorded;
    this.failed = failed;
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
    call.record(binding, fingerprint, permits);
  }

  @Override
  public void read(Reply reply) {
    result = reply.result();
  }

  @Override
  public boolean moved() {
    return Objects.requireNonNull(result).isMoved();
  }

  @Override
  public boolean isUncountable() {
    return Objects.requireNonNull(result).reason() == Reason.UNCERTAIN;
  }

  @Override
  public void answer() {
    recorded.accept(Objects.requireNonNull(result));
  }

  @Override
  public void fail(Failure failure) {
    failed.accept(failure);
  }
}
