package dev.weir.shared;

import dev.weir.Reason;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Records permits that this process has admitted already. */
final class RecordAdmitted extends Operation {
  private final SharedBinding binding;
  private final long fingerprint;
  private final long permits;
  private final Consumer<Result> recorded;
  private final Consumer<Failure> failed;
  private @Nullable Result result;

  RecordAdmitted(
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
  SharedBinding binding() {
    return binding;
  }

  @Override
  long fingerprint() {
    return fingerprint;
  }

  @Override
  void write(Call call) {
    call.record(binding, fingerprint, permits);
  }

  @Override
  void read(Reply reply) {
    result = reply.result();
  }

  @Override
  boolean moved() {
    return Objects.requireNonNull(result).isMoved();
  }

  @Override
  boolean undecided() {
    return Objects.requireNonNull(result).reason() == Reason.UNCERTAIN;
  }

  @Override
  void answer() {
    recorded.accept(Objects.requireNonNull(result));
  }

  @Override
  void fail(Failure failure) {
    failed.accept(failure);
  }
}
