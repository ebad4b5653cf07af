package dev.weir.server;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.rules.Problem;
import dev.weir.server.door.Guarded;
import dev.weir.server.door.Logs;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Settings;
import dev.weir.server.settings.StartException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A running server: ports for gRPC, HTTP and Redis clients on one engine, with rules that are
 * reloaded when their files change. Safe for use by many threads.
 */
public final class WeirServer implements AutoCloseable {
  /** Time for the ports to close, in addition to the time for requests in flight. */
  private static final Duration CLOSE_DOORS = Duration.ofSeconds(3);

  private static final Duration CLOSE_RULES = Duration.ofSeconds(2);
  private static final Duration CLOSE_STORE = Duration.ofSeconds(3);
  private static final Duration CLOSE_CONFIGURATION = Duration.ofSeconds(2);

  private final ServerSettings settings;
  private final Behind behind;
  private final @Nullable MemoryStore throttle;
  private final RulesInForce rules;
  private final Doors doors;
  private final @Nullable TokenFile tokens;
  private final int grpcPort;
  private final int httpPort;
  private final int respPort;
  private final int adminPort;
  private final State state = new State();
  private final Housekeeping housekeeping = new Housekeeping();

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

    synchronized void unlessStopping(Runnable step) {
      if (!stopping) {
        step.run();
      }
    }
  }

  WeirServer(
      ServerSettings settings,
      Behind behind,
      @Nullable MemoryStore throttle,
      RulesInForce rules,
      @Nullable TokenFile tokens,
      Doors doors) {
    this.settings = settings;
    this.behind = behind;
    this.throttle = throttle;
    this.rules = rules;
    this.tokens = tokens;
    this.doors = doors;
    this.grpcPort = doors.grpcPort();
    this.httpPort = doors.httpPort();
    this.respPort = doors.respPort();
    this.adminPort = doors.adminPort();
  }

  /**
   * Starts a server and returns when it is ready: rules in force, code warm, all ports open. If the
   * rules are to come from a configuration store that has none for it now, it returns with all
   * ports open and not ready, and is ready when they come. It configures the log of the whole
   * process.
   *
   * @throws StartException if the rules are broken, a port is taken, a certificate cannot be used,
   *     or the configuration store is damaged or in use
   */
  public static WeirServer start(ServerSettings settings)
      throws StartException, InterruptedException {
    Ticker ticker = Ticker.system();
    Logs.install(settings, ticker);
    settings.warnings().forEach(Logs.LOG::warning);
    return start(settings, SharedStore.open(settings, ticker), Administration::api);
  }

  /** Starts a server with a shared store, or with none; it closes the store when it is closed. */
  static WeirServer start(
      ServerSettings settings, @Nullable SharedStore shared, Administration administration)
      throws StartException, InterruptedException {
    return Assembly.start(settings, shared, administration);
  }

  /**
   * Begins the work.
   *
   * @param missing why there are no rules yet, or empty
   */
  void begin(List<Problem> missing) throws InterruptedException {
    if (missing.isEmpty()) {
      beginToDecide();
      keepHouse();
      rules.watch();
      doors.ready();
      Logs.LOG.info("ready: " + places());
      return;
    }
    keepHouse();
    Logs.LOG.warning("waiting for rules: " + places());
    rules.await(missing, this::waits, this::rulesCame);
  }

  private void keepHouse() {
    housekeeping.start(
        behind.engine(), behind.load(), behind.shared(), throttle, tokens, behind.traffic(), doors);
  }

  private void beginToDecide() throws InterruptedException {
    SharedStore shared = behind.shared();
    if (shared != null) {
      shared.begin(behind.engine().rules());
      shared.await();
      shared.look(behind.engine().rules());
    }
  }

  private void waits(String why) {
    state.unlessStopping(() -> doors.notReady(why));
  }

  private void rulesCame() {
    try {
      beginToDecide();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    state.unlessStopping(
        () -> {
          rules.watch();
          doors.ready();
          Logs.LOG.info("ready: " + places());
        });
  }

  private String places() {
    String host = settings.value(Settings.HOST);
    SharedStore shared = behind.shared();
    return "http on "
        + host
        + ":"
        + httpPort
        + ", grpc on "
        + host
        + ":"
        + grpcPort
        + (respPort < 0 ? "" : ", resp on " + host + ":" + respPort)
        + (adminPort < 0
            ? ""
            : ", admin on " + settings.value(Settings.ADMIN_HOST) + ":" + adminPort)
        + (shared == null ? "" : ", store " + shared);
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

  /** Returns the port for administration, or -1 if there is none. */
  public int adminPort() {
    return adminPort;
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
   * waits for those in flight, and closes. Returns when everything is closed, or ten seconds after
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
      doors.notReady("stopping");
      Duration delay = settings.value(Settings.DRAIN_DELAY);
      Logs.LOG.info("draining");
      if (!state.hurry.await(delay.toNanos(), TimeUnit.NANOSECONDS)) {
        Logs.LOG.fine("drain delay is over");
      }
      Logs.LOG.info("no new requests");
      Ending ending = new Ending();
      ending.step("ports", timeout.plus(CLOSE_DOORS), () -> doors.close(timeout));
      ending.step("rules", CLOSE_RULES, rules::close);
      housekeeping.end();
      ending.step("store", CLOSE_STORE, behind.engine()::close);
      Configuration configuration = behind.configuration();
      if (configuration != null) {
        ending.step("configuration", CLOSE_CONFIGURATION, configuration::close);
      }
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
        .plus(CLOSE_STORE)
        .plus(CLOSE_CONFIGURATION);
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
