package dev.weir.shared.internal;

import dev.weir.Ticker;
import dev.weir.shared.Breaker;
import dev.weir.shared.Counters;
import dev.weir.shared.Failure;
import dev.weir.shared.Reply;
import dev.weir.shared.Shard;
import dev.weir.shared.ShardException;
import dev.weir.shared.SharedBinding;
import dev.weir.shared.StoreSettings;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of a shard: its breaker, its probes, and its messages in the log. Safe for use by many
 * threads.
 */
public final class Health {
  private final Shard shard;
  private final Ticker ticker;
  private final long timeoutNanos;
  private final Turns turns;
  private final Counters counters;
  private final ShardLog log;
  private final Consumer<? super String> warnings;
  private final Breaker breaker;
  private final ShardTime time = new ShardTime();
  private volatile @Nullable Probe probing;

  /** A probe in flight. */
  private record Probe(
      CompletableFuture<? extends Reply> reply, long deadlineNanos, long lateBeforeNanos) {}

  public Health(Shard shard, StoreSettings settings, Turns turns) {
    this.shard = shard;
    counters = settings.counters();
    this.turns = turns;
    ticker = settings.clocks().monotonic();
    timeoutNanos = settings.timeoutNanos();
    log = new ShardLog(settings.log());
    warnings = settings.warnings();
    breaker = new Breaker(ticker);
  }

  /** Returns whether the shard's breaker is open. */
  public boolean givenUp() {
    return breaker.isOpen();
  }

  /** Returns the reason why it is open, in words; empty if it is not. */
  public String problem() {
    return breaker.isOpen() ? log.problem() : "";
  }

  public void succeeded() {
    breaker.succeeded();
  }

  /** Notes a failed call. */
  public void failed(Failure failure, String words) {
    if (breaker.failed()) {
      log.failing(failure, words);
    }
  }

  public void disconnected() {
    if (breaker.open()) {
      log.unreachable();
    }
  }

  /** Logs a key that the shard cannot count, but not each time. */
  public void cannotCount(SharedBinding binding, long fingerprint) {
    log.cannotCount(binding, fingerprint, ticker.nanos());
  }

  public void callerFailed(RuntimeException e) {
    log.line("a caller failed on an answer: " + e);
  }

  /** Returns whether a probe is in flight. */
  public boolean probing() {
    return probing != null;
  }

  /** Probes the shard if its breaker is open and it is time. */
  public void probeIfDue() {
    if (!breaker.takeProbe()) {
      return;
    }
    Probe sent =
        new Probe(
            orFailed(shard::probe).toCompletableFuture(),
            ticker.nanos() + timeoutNanos,
            turns.lateNanos());
    probing = sent;
    CompletionStage<? extends Reply> answer = sent.reply;
    answer.whenComplete(
        (reply, error) -> {
          probing = null;
          Failure failure = reply == null ? failure(error) : read(reply, rest -> {});
          breaker.probed(failure == null);
          if (failure == null) {
            log.answers();
          } else {
            log.failing(failure, error == null ? "" : words(error));
          }
        });
  }

  /** Fails a probe that has had no answer for too long. */
  public void expire() {
    Probe probe = probing;
    if (probe != null && turns.over(probe.deadlineNanos, probe.lateBeforeNanos)) {
      probe.reply.completeExceptionally(new ShardException(Failure.TIMEOUT, "no answer in time"));
    }
  }

  /**
   * Returns the stage of a shard, or a failed stage if the shard throws: a waiting operation must
   * end.
   */
  public static <T> CompletionStage<? extends T> orFailed(
      Supplier<? extends CompletionStage<? extends T>> doing) {
    try {
      return doing.get();
    } catch (RuntimeException e) {
      return CompletableFuture.failedStage(e);
    }
  }

  /** Returns the failure of an error. */
  public static Failure failure(@Nullable Throwable error) {
    return error == null ? Failure.OTHER : ShardException.of(error).failure();
  }

  /** Returns the reason why a call failed, in words. */
  public static String words(Throwable error) {
    return Objects.toString(ShardException.of(error).getMessage());
  }

  /**
   * Reads a reply that has the shard's own time.
   *
   * @param rest reads what follows the time
   * @return the failure, or null
   */
  @Nullable Failure read(Reply reply, Consumer<? super Reply> rest) {
    return read(reply, true, rest);
  }

  /**
   * Reads a reply.
   *
   * @param ownTime true if its time is the shard's
   * @param rest reads what follows the time
   * @return the failure, or null
   */
  @Nullable
  public Failure read(Reply reply, boolean ownTime, Consumer<? super Reply> rest) {
    try {
      long nowNanos = reply.nowNanos();
      if (ownTime) {
        warnOfStep(time.backNanos(nowNanos));
      }
      rest.accept(reply);
      return null;
    } catch (RuntimeException e) {
      log.line("the store's reply makes no sense: " + words(e));
      return Failure.OTHER;
    }
  }

  private void warnOfStep(long backNanos) {
    if (backNanos > 0) {
      counters.clockSteps.increment();
      warnings.accept(
          "the store's clock went back by "
              + Duration.ofNanos(backNanos)
              + ": what was charged before counts until the clock has caught up");
    }
  }
}
