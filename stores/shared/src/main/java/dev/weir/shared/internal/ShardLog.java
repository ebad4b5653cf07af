package dev.weir.shared.internal;

import dev.weir.shared.Failure;
import dev.weir.shared.SharedBinding;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The messages in the log about a shard that is lost and one that is back. Safe for use by many
 * threads.
 */
final class ShardLog {
  private final Consumer<? super String> log;

  /** The time between two lines about keys that cannot be counted: such keys come often. */
  private static final long KEY_PAUSE_NANOS = 60_000_000_000L;

  private boolean everAnswered;
  private boolean keySaid;
  private long keySaidAtNanos;
  private long keysUnsaid;

  /** The failure logged last; null while there is none. */
  private @Nullable Failure said;

  private volatile String problem = "";

  ShardLog(Consumer<? super String> log) {
    this.log = log;
  }

  /** Returns the problem in words; empty if none is known. */
  String problem() {
    return problem;
  }

  void line(String line) {
    log.accept(line);
  }

  synchronized void unreachable() {
    said = Failure.DISCONNECTED;
    problem = "the connection is lost";
    log.accept("the store is gone: rules answer by their on_failure until it is back");
  }

  /**
   * Logs the reason why the shard decides nothing, once for each reason; the link itself logs a
   * missing connection.
   */
  synchronized void failing(Failure failure, String words) {
    problem = words.isEmpty() ? failure.text() : failure.text() + ": " + words;
    if (failure != said && failure != Failure.OPEN) {
      said = failure;
      log.accept(
          "the store does not decide ("
              + problem
              + "): rules answer by their on_failure until it does");
    }
  }

  /** Logs a key that the shard cannot count, at most one a minute. */
  synchronized void cannotCount(SharedBinding binding, long fingerprint, long nowNanos) {
    if (keySaid && nowNanos - keySaidAtNanos < KEY_PAUSE_NANOS) {
      keysUnsaid++;
      return;
    }
    String key = binding.code().shownKey(fingerprint);
    String before = keysUnsaid == 0 ? "" : " (" + keysUnsaid + " further failures were not logged)";
    keySaid = true;
    keySaidAtNanos = nowNanos;
    keysUnsaid = 0;
    log.accept(
        "the store cannot count a key of "
            + binding.name()
            + (key.isEmpty() ? "" : ", " + key)
            + " (state): its requests are answered by on_failure until it can"
            + before);
  }

  synchronized void answers() {
    said = null;
    problem = "";
    log.accept("the store answers: decisions are shared" + (everAnswered ? " again" : ""));
    everAnswered = true;
  }
}
