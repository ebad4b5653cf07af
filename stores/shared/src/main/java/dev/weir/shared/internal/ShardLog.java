package dev.weir.shared.internal;

import dev.weir.shared.Failure;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The messages in the log about a shard that is lost and one that is back. Safe for use by many
 * threads.
 */
final class ShardLog {
  private final Consumer<? super String> log;
  private boolean everAnswered;

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

  synchronized void answers() {
    said = null;
    problem = "";
    log.accept("the store answers: decisions are shared" + (everAnswered ? " again" : ""));
    everAnswered = true;
  }
}
