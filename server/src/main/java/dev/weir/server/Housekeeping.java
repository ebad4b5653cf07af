package dev.weir.server;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.internal.DaemonThreads;
import dev.weir.replay.RecordedTraffic;
import dev.weir.server.internal.access.TokenFile;
import dev.weir.server.internal.guard.Guarded;
import dev.weir.server.internal.guard.Loop;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.log.Logs;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The periodic work of a server, on one thread; an error in one kind does not affect the others.
 */
final class Housekeeping {
  private static final long ROUND_MILLIS = 1_000;

  /**
   * Half of the time after which a changed file is used: its new content must be found by two
   * reads.
   */
  private static final long FILES_MILLIS = 500;

  private final FullnessWarning fullness =
      new FullnessWarning("the key space", "--max-keys, --max-memory, max_keys");
  private final FullnessWarning throttleFullness =
      new FullnessWarning("the key space of CL.THROTTLE", "--throttle-max-keys, --max-memory");
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-housekeeping"));

  private final Behind behind;
  private final @Nullable MemoryStore throttle;
  private final @Nullable TokenFile tokens;
  private final Ticker ticker;

  /**
   * @param throttle the table for CL.THROTTLE, or null
   * @param tokens the file of the clients' tokens, or null
   * @param ticker the time that decides in that table
   */
  Housekeeping(
      Behind behind, @Nullable MemoryStore throttle, @Nullable TokenFile tokens, Ticker ticker) {
    this.behind = behind;
    this.throttle = throttle;
    this.tokens = tokens;
    this.ticker = ticker;
  }

  /** Starts the work. */
  void start(Doors doors) {
    Engine engine = behind.engine();
    SystemLoad load = behind.load();
    SharedStore shared = behind.shared();
    RecordedTraffic traffic = behind.traffic();
    MemoryStore throttle = this.throttle;
    TokenFile tokens = this.tokens;
    new Guarded(Loop.LOAD, load::poll)
        .run(); // Elastic rules are enforced until there is a reading.
    every(SystemLoad.POLL_MILLIS, Loop.LOAD, load::poll);
    every(ROUND_MILLIS, Loop.EXPIRY, engine::expire);
    every(ROUND_MILLIS, Loop.EXPIRY, () -> warn(fullness.warning(engine.fullPercent())));
    if (throttle != null) {
      every(ROUND_MILLIS, Loop.EXPIRY, () -> throttle.expire(ticker.nanos()));
      every(
          ROUND_MILLIS, Loop.EXPIRY, () -> warn(throttleFullness.warning(throttle.fullPercent())));
    }
    if (traffic != null) {
      every(ROUND_MILLIS, Loop.EXPIRY, traffic::expire);
    }
    if (shared != null) {
      every(ROUND_MILLIS, Loop.STORE, () -> shared.look(engine.rules()));
    }
    every(FILES_MILLIS, Loop.CERTIFICATES, doors::refresh);
    if (tokens != null) {
      every(FILES_MILLIS, Loop.TOKENS, tokens::refresh);
    }
  }

  private void every(long millis, Loop loop, Runnable turn) {
    ScheduledFuture<?> unused =
        thread.scheduleWithFixedDelay(
            new Guarded(loop, turn), millis, millis, TimeUnit.MILLISECONDS);
  }

  private static void warn(@Nullable String warning) {
    if (warning != null) {
      Logs.LOG.warning(warning);
    }
  }

  void end() {
    thread.shutdown();
  }
}
