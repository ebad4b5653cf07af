package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.rules.Problem;
import dev.weir.server.internal.guard.GuardedTask;
import dev.weir.server.internal.log.LogEvent;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.metrics.ServerMetrics;
import dev.weir.server.internal.rules.RulesInForce;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.internal.state.StateStorage;
import dev.weir.server.settings.StartException;
import java.time.Duration;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.logging.Level;

/**
 * A running server: ports for gRPC, HTTP and Redis clients on one engine, with rules that are
 * reloaded when their files change. Safe for use by many threads.
 */
public final class WeirServer implements AutoCloseable {
  /*
   * In which order does a server stop, and why? First it reports that it is not ready, and goes on
   * answering for the drain delay, so that balancers notice. Then its parts stop in the reverse of
   * the order in which they started (Assembly): the ports, which wait for requests in flight; the
   * rules; housekeeping. From here on nothing is decided, so the counts can be saved whole. If one
   * of these parts hangs, it is left behind and the counts are not saved: an image would lack what
   * it still decides, which the journal has. Parts that only report or lend stop after that: the history, the client of the
   * upstream server, telemetry. The configuration store, the lock of the state folder and the
   * store of the counts come last, since the parts before use them. Assembly lists all parts.
   */

  /** The time between two looks at the reading of counts. */
  private static final Duration LOOK = Duration.ofMinutes(1);

  private final ServerSettings settings;
  private final ServerParts serverParts;
  private final RulesInForce rules;
  private final PeriodicWork housekeeping;
  private final OpenPorts ports;
  private final Parts parts;
  private final State state = new State();

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
      ServerParts serverParts,
      RulesInForce rules,
      PeriodicWork housekeeping,
      OpenPorts ports,
      Parts parts) {
    this.settings = settings;
    this.serverParts = serverParts;
    this.rules = rules;
    this.housekeeping = housekeeping;
    this.ports = ports;
    this.parts = parts;
  }

  /**
   * Starts a server and returns when it is ready: rules in force, counts read, code warm, all ports
   * open. Ports open before the counts are read if that takes long; requests then get the answers
   * of their rules' failure modes. If the rules come from a configuration store that has none yet,
   * it returns with all ports open; the server is ready when the rules come. It configures the log
   * of the whole process.
   *
   * @throws StartException if the rules are broken, a port is taken, a certificate cannot be used,
   *     or the configuration store is damaged or in use
   */
  public static WeirServer start(ServerOptions options)
      throws StartException, InterruptedException {
    return start(options, server -> {});
  }

  /**
   * Starts a server in the same way as {@link #start(ServerOptions)}.
   *
   * @param begun receives the server once its ports are open, before it is ready: from then on any
   *     thread can drain it, even while this method waits
   */
  public static WeirServer start(ServerOptions options, Consumer<WeirServer> begun)
      throws StartException, InterruptedException {
    ServerSettings settings = options.settings();
    Ticker ticker = Ticker.system();
    Logs.install(settings, ticker);
    settings.warnings().forEach(Logs.LOG::warning);
    FreePorts.require(settings);
    return Assembly.start(
        settings,
        StoreOpener.open(settings, ticker),
        Administration::api,
        StateStorage.OWN_THREAD,
        begun);
  }

  /** Starts a server whose counts are read by an executor, and passes it on before it is ready. */
  static WeirServer start(ServerSettings settings, Executor reader, Consumer<WeirServer> begun)
      throws StartException, InterruptedException {
    return Assembly.start(settings, StoreConnection.NONE, Administration::api, reader, begun);
  }

  /** Starts a server; it closes the shared store when it is closed. */
  static WeirServer start(
      ServerSettings settings, StoreConnection shared, Administration administration)
      throws StartException, InterruptedException {
    return Assembly.start(settings, shared, administration, StateStorage.OWN_THREAD, server -> {});
  }

  /**
   * Starts to serve.
   *
   * @param missing the reasons why there are no rules yet, or empty
   * @throws StartException if the counts cannot be read, or their folder not be written
   */
  void begin(List<Problem> missing) throws StartException, InterruptedException {
    awaitCounts();
    if (missing.isEmpty()) {
      beginToDecide();
      state.unlessStopping(
          () -> {
            keepHouse();
            rules.watch();
            ports.ready();
            logReady();
          });
      return;
    }
    state.unlessStopping(this::keepHouse);
    places(Level.WARNING, "waiting_for_rules", "waiting for rules: ");
    rules.await(missing, this::waits, this::rulesCame);
  }

  /** Waits until the counts are read; a stop ends the waiting. */
  private void awaitCounts() throws StartException, InterruptedException {
    try {
      if (!serverParts.state().awaitBegun(Duration.ZERO)) {
        places(Level.INFO, "reading_counts", "reading the counts, requests get on_failure: ");
        waits("the counts are being read");
        while (!serverParts.state().awaitBegun(LOOK)) {
          Logs.LOG.fine("the counts are being read");
        }
      }
    } catch (CancellationException e) {
      Logs.LOG.fine("stopped before the counts were read");
    }
  }

  private void keepHouse() {
    housekeeping.start();
    serverParts.admin().begin();
  }

  private void beginToDecide() throws InterruptedException {
    StoreConnection shared = serverParts.shared();
    if (shared.store().isPresent()) {
      waits("the shared store is not reached yet");
      shared.begin(serverParts.engine().rules(), !settings.value(Settings.NO_WARMUP));
    }
  }

  private void waits(String why) {
    state.unlessStopping(() -> ports.notReady(why));
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
          ports.ready();
          logReady();
        });
  }

  private void logReady() {
    places(Level.INFO, "ready", "ready: ");
  }

  private void places(Level level, String event, String message) {
    LogEvent line =
        LogEvent.of(level, event, message + places())
            .with("version", ServerMetrics.version())
            .with("host", settings.value(Settings.HOST));
    if (httpPort() >= 0) {
      line.with("http_port", httpPort());
    }
    if (grpcPort() >= 0) {
      line.with("grpc_port", grpcPort());
    }
    if (respPort() >= 0) {
      line.with("resp_port", respPort());
    }
    if (adminPort() >= 0) {
      line.with("admin_port", adminPort());
    }
    line.log();
  }

  private String places() {
    String host = settings.value(Settings.HOST);
    StringJoiner places = new StringJoiner(", ");
    place(places, "http", host, httpPort());
    place(places, "grpc", host, grpcPort());
    place(places, "resp", host, respPort());
    place(places, "admin", settings.value(Settings.ADMIN_HOST), adminPort());
    return places
        + serverParts.shared().place()
        + settings.value(Settings.UPSTREAM).map(uri -> ", upstream " + uri).orElse("");
  }

  private static void place(StringJoiner places, String name, String host, int port) {
    if (port >= 0) {
      places.add(name + " on " + host + ":" + port);
    }
  }

  /** Returns the number of the port for HTTP, or -1 if there is none. */
  public int httpPort() {
    return ports.httpPort();
  }

  /** Returns the number of the port for gRPC, or -1 if there is none. */
  public int grpcPort() {
    return ports.grpcPort();
  }

  /** Returns the number of the port for Redis clients, or -1 if there is none. */
  public int respPort() {
    return ports.respPort();
  }

  /** Returns the number of the port for administration, or -1 if there is none. */
  public int adminPort() {
    return ports.adminPort();
  }

  /** Returns whether the server takes requests. */
  public boolean ready() {
    return ports.isReady();
  }

  /** Stops the server within the settings' drain timeout. See {@link #drain(Duration)}. */
  public void drain() throws InterruptedException {
    drain(settings.value(Settings.DRAIN_TIMEOUT));
  }

  /**
   * Stops: reports "not ready", goes on answering for the drain delay, takes no more requests,
   * waits for those in flight, and closes. Returns when everything is closed, or when all deadlines
   * have passed ({@link #longestDrain}) even if a part has not closed; the log names such parts. A
   * second call waits for the first.
   *
   * @param timeout for the requests in flight; those that are not answered by then are cut off
   */
  public void drain(Duration timeout) throws InterruptedException {
    if (!state.beginToStop()) {
      state.stopped.await();
      return;
    }
    try {
      ports.notReady("stopping");
      Duration delay = settings.value(Settings.DRAIN_DELAY);
      LogEvent.of(Level.INFO, "draining", "draining")
          .with("delay_ms", delay.toMillis())
          .with("timeout_ms", timeout.toMillis())
          .log();
      if (!state.hurry.await(delay.toNanos(), TimeUnit.NANOSECONDS)) {
        Logs.LOG.fine("drain delay is over");
      }
      LogEvent.of(Level.INFO, "no_new_requests", "no new requests").log();
      ports.drainTimeout(timeout);
      parts.stop();
      boolean all = parts.left().isEmpty();
      LogEvent.of(
              all ? Level.INFO : Level.WARNING,
              "stopped",
              all ? "stopped" : "stopped, except " + String.join(", ", parts.left()))
          .with("left", parts.left())
          .log();
    } finally {
      state.stopped.countDown();
    }
  }

  /**
   * Returns the names of the parts that did not stop in time, or failed to stop, such as {@code
   * counts} that were not saved; empty before the stop, and after one that left nothing behind.
   */
  public List<String> left() {
    return List.copyOf(parts.left());
  }

  /**
   * Returns the longest time that {@link #drain()} takes if it begins now, whatever hangs. The part
   * for the counts grows with the tables.
   */
  public Duration longestDrain() {
    return settings.value(Settings.DRAIN_DELAY).plus(parts.longest());
  }

  /**
   * Returns a handler that logs and counts errors that end threads, together with the server's
   * other errors. A program may set it as the default for its threads; the server itself does not.
   */
  public static Thread.UncaughtExceptionHandler uncaught() {
    return GuardedTask::uncaught;
  }

  /**
   * Ends the drain delay, even before it has begun. Only {@link #close} does so: a second signal
   * does not.
   */
  void endDrainDelay() {
    state.hurry.countDown();
  }

  /** Returns when the server has stopped. */
  public void awaitStopped() throws InterruptedException {
    state.stopped.await();
  }

  /**
   * Stops without the drain delay; requests in flight are cut off. It takes the time that the parts
   * need to close, at most {@link #longestDrain} without the delay and the drain timeout.
   */
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
