package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.admin.Observations;
import dev.weir.engine.Engine;
import dev.weir.insight.History;
import dev.weir.insight.HotKeys;
import dev.weir.insight.Insight;
import dev.weir.insight.Refusals;
import dev.weir.internal.DaemonThreads;
import dev.weir.server.internal.guard.GuardedTask;
import dev.weir.server.internal.guard.Loop;
import dev.weir.server.internal.rules.StoredConfiguration;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import java.nio.file.Path;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The record of a server's decisions for its dashboard, which reads the counters every second, on a
 * thread of its own. Safe for use by many threads.
 */
final class Observation implements AutoCloseable {
  private static final String FOLDER = "history";
  private static final long SECOND_NANOS = 1_000_000_000L;

  /**
   * The delay after the beginning of a second, so that an early timer does not fire in the second
   * before.
   */
  private static final long LATER_NANOS = 20_000_000L;

  /** The most seconds that wait to be sent to the dashboard; further ones are left out. */
  private static final int MAX_WAITING = 10;

  private final Insight insight;
  private final Observations observed;
  private final Ticker ticker;
  private final ScheduledExecutorService clock;
  private final ThreadPoolExecutor live;

  private Observation(
      Insight insight, ServerSettings settings, StoredConfiguration configuration, Ticker ticker) {
    this.insight = insight;
    this.ticker = ticker;
    clock = Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-insight"));
    live =
        new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_WAITING),
            DaemonThreads.named("weir-live"),
            new ThreadPoolExecutor.DiscardPolicy());
    Executor guarded = task -> live.execute(new GuardedTask(Loop.INSIGHT, task));
    observed =
        new Observations(
            insight,
            settings.value(Settings.SHOW_KEYS),
            configuration.node(),
            () -> configuration.status().appliedRevision(),
            guarded);
  }

  /** Observes an engine; nothing is read before {@link #begin}. */
  static Observation open(
      ServerSettings settings, Engine engine, StoredConfiguration configuration, Ticker ticker) {
    Path folder = settings.value(Settings.DATA_DIR).map(data -> data.resolve(FOLDER)).orElse(null);
    History history =
        new History(engine::totals, engine::fullPercent, folder, ticker, Ticker.wall());
    Refusals refusals = new Refusals(Ticker.wall(), () -> configuration.status().appliedRevision());
    HotKeys keys = settings.value(Settings.NO_HOT_KEYS) ? null : new HotKeys(ticker);
    Insight insight = new Insight(history, refusals, keys);
    engine.observe(insight);
    return new Observation(insight, settings, configuration, ticker);
  }

  Observations observed() {
    return observed;
  }

  void begin() {
    long now = ticker.nanos();
    long delay = SECOND_NANOS - Math.floorMod(now, SECOND_NANOS) + LATER_NANOS;
    ScheduledFuture<?> unused =
        clock.scheduleAtFixedRate(
            new GuardedTask(Loop.INSIGHT, insight::tick),
            delay,
            SECOND_NANOS,
            TimeUnit.NANOSECONDS);
  }

  /** Ends the reading, and writes the current second. */
  @Override
  public void close() {
    clock.shutdownNow();
    live.shutdownNow();
    insight.close();
  }
}
