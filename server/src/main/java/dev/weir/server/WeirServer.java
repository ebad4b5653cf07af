package dev.weir.server;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.engine.CallerBuckets;
import dev.weir.engine.Engine;
import dev.weir.engine.RoutedStore;
import dev.weir.rules.Rules;
import dev.weir.server.door.Guarded;
import dev.weir.server.door.Logs;
import dev.weir.server.door.Loop;
import dev.weir.server.door.SystemLoad;
import dev.weir.server.door.Tokens;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Settings;
import dev.weir.server.settings.StartException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A running server: ports for gRPC, HTTP and Redis clients on one engine, with rules that are
 * reloaded when their files change. Safe for use by many threads.
 */
public final class WeirServer implements AutoCloseable {
  private static final long ROUND_MILLIS = 1_000;

  /** New content is used when two reads find the same, so a change takes less than two of these. */
  private static final long FILES_MILLIS = 500;

  /** Time for the ports to close, in addition to the time for requests in flight. */
  private static final Duration CLOSE_DOORS = Duration.ofSeconds(3);

  private static final Duration CLOSE_RULES = Duration.ofSeconds(3);
  private static final Duration CLOSE_STORE = Duration.ofSeconds(3);

  /** With a table in this process, this fraction of the memory for keys is for CL.THROTTLE. */
  private static final long THROTTLE_SHARE = 4;

  private final ServerSettings settings;
  private final Engine engine;
  private final SystemLoad load;
  private final @Nullable SharedStore shared;
  private final @Nullable MemoryStore throttle;
  private final RulesInForce rules;
  private final Doors doors;
  private final @Nullable TokenFile tokens;
  private final int grpcPort;
  private final int httpPort;
  private final int respPort;
  private final State state = new State();
  private final FullnessWarning fullness =
      new FullnessWarning("the key space", "--max-keys, --max-memory, max_keys");
  private final FullnessWarning throttleFullness =
      new FullnessWarning("the key space of CL.THROTTLE", "--throttle-max-keys, --max-memory");
  private final ScheduledExecutorService housekeeping;

  /** Progress of a stop. */
  private static final class State {
    private final CountDownLatch hurry = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);
    private boolean stopping;

    synchronized boolean beginToStop() {
      boolean first = !stopping;
      stopping = true;
      return first;
    }
  }

  private WeirServer(
      ServerSettings settings,
      Engine engine,
      SystemLoad load,
      @Nullable SharedStore shared,
      @Nullable MemoryStore throttle,
      RulesInForce rules,
      @Nullable TokenFile tokens,
      Doors doors) {
    this.settings = settings;
    this.engine = engine;
    this.load = load;
    this.shared = shared;
    this.throttle = throttle;
    this.rules = rules;
    this.tokens = tokens;
    this.doors = doors;
    this.grpcPort = doors.grpcPort();
    this.httpPort = doors.httpPort();
    this.respPort = doors.respPort();
    this.housekeeping =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "weir-housekeeping");
              thread.setDaemon(true);
              return thread;
            });
  }

  /**
   * Starts a server and returns when it is ready: rules in force, code warm, all ports open. It
   * configures the log of the whole process.
   *
   * @throws StartException if the rules are broken, a port is taken, or a certificate cannot be
   *     used
   */
  public static WeirServer start(ServerSettings settings)
      throws StartException, InterruptedException {
    Ticker ticker = Ticker.system();
    Logs.install(settings, ticker);
    settings.warnings().forEach(Logs.LOG::warning);
    return start(settings, SharedStore.open(settings, ticker));
  }

  /** Starts a server with a shared store, or with none; it closes the store when it is closed. */
  static WeirServer start(ServerSettings settings, @Nullable SharedStore shared)
      throws StartException, InterruptedException {
    long maxBytes = settings.value(Settings.MAX_MEMORY);
    boolean ownThrottle =
        settings.value(Settings.RESP_PORT).isPresent() && !settings.sharesThrottle(shared != null);
    long throttleBytes = ownThrottle ? maxBytes / THROTTLE_SHARE : 0;
    MemoryStore memory =
        new MemoryStore(settings.value(Settings.MAX_KEYS), maxBytes - throttleBytes);
    RoutedStore store =
        shared == null ? RoutedStore.local(memory) : RoutedStore.of(memory, shared.store());
    SystemLoad load = SystemLoad.of(settings, Ticker.system());
    Engine engine = Engine.create(store, Ticker.system(), settings.engine(), load);
    try {
      WeirServer server = start(settings, engine, load, shared, throttleBytes);
      server.begin();
      return server;
    } catch (StartException | InterruptedException | RuntimeException | Error e) {
      engine.close();
      throw e;
    }
  }

  private static WeirServer start(
      ServerSettings settings,
      Engine engine,
      SystemLoad load,
      @Nullable SharedStore shared,
      long throttleBytes)
      throws StartException, InterruptedException {
    Ticker ticker = Ticker.system();
    Rules.Loaded first = RulesInForce.load(settings);
    TokenFile tokenFile = TokenFile.of(settings);
    Tokens tokens = tokenFile == null ? Tokens.notRequired() : tokenFile.tokens();
    MemoryStore throttle = null;
    Store buckets;
    if (shared != null && settings.sharesThrottle(true)) {
      buckets = shared.store();
    } else {
      throttle =
          new MemoryStore(settings.value(Settings.THROTTLE_MAX_KEYS), Math.max(1, throttleBytes));
      buckets = throttle;
    }
    RulesInForce rules = RulesInForce.start(settings, engine, first);
    if (!settings.value(Settings.NO_WARMUP)) {
      Logs.LOG.info(WarmUp.run(ticker));
    }
    Doors doors =
        Doors.open(
            settings,
            engine,
            load,
            shared,
            new CallerBuckets(buckets, ticker.nanos()),
            tokens,
            ticker);
    return new WeirServer(settings, engine, load, shared, throttle, rules, tokenFile, doors);
  }

  private void begin() throws InterruptedException {
    if (shared != null) {
      shared.begin(engine.rules());
      shared.await();
      shared.look(engine.rules());
    }
    lookAfter();
    rules.watch(settings);
    doors.ready();
    String host = settings.value(Settings.HOST);
    String resp = respPort < 0 ? "" : ", resp on " + host + ":" + respPort;
    String store = shared == null ? "" : ", store " + shared;
    Logs.LOG.info(
        "ready: http on "
            + host
            + ":"
            + httpPort
            + ", grpc on "
            + host
            + ":"
            + grpcPort
            + resp
            + store);
  }

  /** Starts the periodic work; an error in one kind does not affect the others. */
  private void lookAfter() {
    new Guarded(Loop.LOAD, load::poll)
        .run(); // Elastic rules are enforced until there is a reading.
    every(SystemLoad.POLL_MILLIS, Loop.LOAD, load::poll);
    every(ROUND_MILLIS, Loop.EXPIRY, engine::expire);
    every(ROUND_MILLIS, Loop.EXPIRY, () -> warn(fullness.warning(engine.fullPercent())));
    if (throttle != null) {
      every(ROUND_MILLIS, Loop.EXPIRY, () -> throttle.expire(Ticker.system().nanos()));
      every(
          ROUND_MILLIS, Loop.EXPIRY, () -> warn(throttleFullness.warning(throttle.fullPercent())));
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
        housekeeping.scheduleWithFixedDelay(
            new Guarded(loop, turn), millis, millis, TimeUnit.MILLISECONDS);
  }

  private static void warn(@Nullable String warning) {
    if (warning != null) {
      Logs.LOG.warning(warning);
    }
  }

  public int httpPort() {
    return httpPort;
  }

  public int grpcPort() {
    return grpcPort;
  }

  /** Returns the port for Redis clients, or -1 if there is none. */
  public int respPort() {
    return respPort;
  }

  /** Returns whether the server takes requests. */
  public boolean ready() {
    return doors.isReady();
  }

  /** Stops as {@link #drain} does, within the settings' drain timeout. */
  public void drain() throws InterruptedException {
    drain(settings.value(Settings.DRAIN_TIMEOUT));
  }

  /**
   * Stops: reports "not ready", goes on answering for the drain delay, takes no more requests,
   * waits for those in flight, and closes. Returns when everything is closed, or nine seconds after
   * delay and timeout even if a part has not closed; a second call waits for the first.
   *
   * @param timeout for the requests in flight; those that are not answered by then are cut off
   */
  public void drain(Duration timeout) throws InterruptedException {
    if (!state.beginToStop()) {
      state.stopped.await();
      return;
    }
    try {
      doors.notReady();
      Duration delay = settings.value(Settings.DRAIN_DELAY);
      Logs.LOG.info("draining");
      if (!state.hurry.await(delay.toNanos(), TimeUnit.NANOSECONDS)) {
        Logs.LOG.fine("drain delay is over");
      }
      Logs.LOG.info("no new requests");
      Ending ending = new Ending();
      ending.step("ports", timeout.plus(CLOSE_DOORS), () -> doors.close(timeout));
      ending.step("rules", CLOSE_RULES, rules::close);
      housekeeping.shutdown();
      ending.step("store", CLOSE_STORE, engine::close);
      boolean all = ending.left().isEmpty();
      Logs.LOG.info(all ? "stopped" : "stopped, except " + String.join(", ", ending.left()));
    } finally {
      state.stopped.countDown();
    }
  }

  /** Returns how long {@link #drain()} takes at most, whatever hangs. */
  public Duration longestDrain() {
    return settings
        .value(Settings.DRAIN_DELAY)
        .plus(settings.value(Settings.DRAIN_TIMEOUT))
        .plus(CLOSE_DOORS)
        .plus(CLOSE_RULES)
        .plus(CLOSE_STORE);
  }

  /**
   * Returns a handler that logs and counts errors that end threads, together with the server's
   * other errors. A program may set it as the default for its threads; the server itself does not.
   */
  public static Thread.UncaughtExceptionHandler uncaught() {
    return Guarded::uncaught;
  }

  /** Ends the drain delay, also one that has not begun. */
  void endDrainDelay() {
    state.hurry.countDown();
  }

  /** Returns when the server has stopped. */
  public void awaitStopped() throws InterruptedException {
    state.stopped.await();
  }

  /** Stops at once: no delay, and requests in flight are cut off. */
  @Override
  public void close() {
    endDrainDelay();
    try {
      drain(Duration.ZERO);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
