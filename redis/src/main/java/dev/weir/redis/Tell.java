package dev.weir.redis;

import dev.weir.Reason;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Tells of permits that were admitted already. */
final class Tell extends Question {
  private final RedisLimit limit;
  private final byte[] key;
  private final long permits;
  private final Consumer<Result> told;
  private final Consumer<Failure> failed;
  private @Nullable Result result;

  Tell(
      RedisLimit limit,
      long fingerprint,
      long permits,
      Consumer<Result> told,
      Consumer<Failure> failed) {
    this.limit = limit;
    key = limit.key(fingerprint);
    this.permits = permits;
    this.told = told;
    this.failed = failed;
  }

  @Override
  byte[] key() {
    return key;
  }

  @Override
  void write(Message message) {
    message.record(limit, key, permits);
  }

  @Override
  void read(MessageReader reply) {
    result = Result.read(reply);
  }

  @Override
  boolean undecided() {
    return Objects.requireNonNull(result).reason() == Reason.UNCERTAIN;
  }

  @Override
  void answer() {
    told.accept(Objects.requireNonNull(result));
  }

  @Override
  void fail(Failure failure) {
    failed.accept(failure);
  }
}
