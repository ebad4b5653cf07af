package dev.weir.server;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.rules.Rules;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * A running server: a gRPC and an HTTP door on one engine, with rules that follow their files. Safe
 * for use by many threads.
 */
public final class WeirServer implements AutoCloseable {
  private static final long EXPIRE_SECONDS = 1;

  private final ServerSettings settings;
  private final Engine engine;
  private final RulesInForce rules;
  private final GrpcDoor grpc;
  private final HttpDoor http;
  private final int grpcPort;
  private final int httpPort;
  private final State state;
  private final ScheduledExecutorService housekeeping;
  private @Nullable ScheduledFuture<?> expiry;

  /** What the doors ask before the server is whole. */
  private static final class State {
    private volatile boolean ready;
    private final CountDownLatch hurry = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);
    private boolean stopping;

    synchronized boolean beginToStop() {
      boolean first = !stopping;
      stopping = true;
      ready = false;
      return first;
    }
  }

  private WeirServer(
      ServerSettings settings,
      Engine engine,
      RulesInForce rules,
      GrpcDoor grpc,
      HttpDoor http,
      State state) {
    this.settings = settings;
    this.engine = engine;
    this.rules = rules;
    this.grpc = grpc;
    this.http = http;
    this.grpcPort = grpc.port();
    this.httpPort = http.port();
    this.state = state;
    this.housekeeping =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "weir-housekeeping");
              thread.setDaemon(true);
              return thread;
            });
  }

  /**
   * Starts a server and returns when it is ready: rules in force, code warm, both doors open. It
   * takes over the process's log.
   *
   * @throws StartException if the rules are broken, a port is taken, or a certificate cannot be
   *     used
   */
  public static WeirServer start(ServerSettings settings)
      throws StartException, InterruptedException {
    Logs.install(settings);
    settings.warnings().forEach(Logs.LOG::warning);
    Ticker ticker = Ticker.system();
    Rules.Loaded first = RulesInForce.load(settings);
    Engine engine =
        Engine.create(
            new MemoryStore(settings.value(Setting.MAX_KEYS), settings.value(Setting.MAX_MEMORY)),
            ticker,
            settings.engine());
    RulesInForce rules = RulesInForce.start(settings, engine, first);
    long warm = WarmUp.run(settings, ticker);
    Logs.LOG.fine(() -> "warmed up with " + warm + " bytes of answers");

    State state = new State();
    DoorCounters grpcCounters = new DoorCounters(settings.value(Setting.MAX_CONNECTIONS));
    DoorCounters httpCounters = new DoorCounters(settings.value(Setting.MAX_CONNECTIONS));
    Map<String, DoorCounters> doors = Map.of("grpc", grpcCounters, "http", httpCounters);
    Endpoints endpoints =
        new Endpoints(
            engine,
            settings,
            () -> state.ready,
            () -> MetricsPage.text(engine.metrics(), doors, state.ready));
    GrpcDoor grpc = openGrpc(settings, engine, grpcCounters);
    HttpDoor http;
    try {
      http = HttpDoor.open(settings, endpoints.all(), httpCounters, ticker);
    } catch (IOException e) {
      grpc.close(Duration.ZERO);
      throw cannotListen(settings, Setting.PORT, e);
    }
    WeirServer server = new WeirServer(settings, engine, rules, grpc, http, state);
    server.begin();
    return server;
  }

  private static GrpcDoor openGrpc(ServerSettings settings, Engine engine, DoorCounters counters)
      throws StartException {
    try {
      RlsService envoys = new RlsService(engine, new RlsMessages(settings));
      return GrpcDoor.open(settings, List.of(envoys, new WeirService(engine)), counters);
    } catch (IOException e) {
      throw cannotListen(settings, Setting.GRPC_PORT, e);
    } catch (IllegalArgumentException e) {
      throw new StartException(
          settings.source(Setting.GRPC_TLS_CERT) + ": cannot be used: " + e.getMessage(), e);
    }
  }

  private static StartException cannotListen(
      ServerSettings settings, Setting<Integer> port, IOException e) {
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return new StartException(
        port.flag()
            + ": cannot listen on "
            + settings.value(Setting.HOST)
            + ":"
            + settings.value(port)
            + ": "
            + cause.getMessage()
            + " (expected: a free port; "
            + port.flag()
            + " or "
            + port.variable()
            + " sets another)",
        e);
  }

  private void begin() {
    expiry =
        housekeeping.scheduleWithFixedDelay(
            this::expire, EXPIRE_SECONDS, EXPIRE_SECONDS, TimeUnit.SECONDS);
    rules.watch(settings);
    state.ready = true;
    grpc.ready();
    Logs.LOG.info(
        "ready: http on "
            + settings.value(Setting.HOST)
            + ":"
            + httpPort()
            + ", grpc on "
            + settings.value(Setting.HOST)
            + ":"
            + grpcPort());
  }

  private final Fullness fullness = new Fullness();

  /** A round that fails must not end all rounds to come. */
  private void expire() {
    try {
      engine.expire();
      String warning = fullness.look(engine.fullPercent());
      if (warning != null) {
        Logs.LOG.warning(warning);
      }
    } catch (RuntimeException e) {
      Logs.LOG.log(Level.SEVERE, "housekeeping failed", e);
    }
  }

  public int httpPort() {
    return httpPort;
  }

  public int grpcPort() {
    return grpcPort;
  }

  /** Returns whether the server takes requests. */
  public boolean ready() {
    return state.ready;
  }

  /** Stops as {@link #drain} does, within the settings' drain timeout. */
  public void drain() throws InterruptedException {
    drain(settings.value(Setting.DRAIN_TIMEOUT));
  }

  /**
   * Stops: says "not ready", goes on answering for the drain delay, takes no more requests, waits
   * for those in flight, and closes. Returns when all is closed; a second call waits for the first.
   *
   * @param timeout for the requests in flight; what is not done by then is cut off
   */
  public void drain(Duration timeout) throws InterruptedException {
    if (!state.beginToStop()) {
      state.stopped.await();
      return;
    }
    try {
      grpc.notReady();
      Duration delay = settings.value(Setting.DRAIN_DELAY);
      Logs.LOG.info("draining");
      if (!state.hurry.await(delay.toNanos(), TimeUnit.NANOSECONDS)) {
        Logs.LOG.fine("drain delay is over");
      }
      long startNanos = Ticker.system().nanos();
      grpc.shut();
      CompletableFuture<Void> closing = http.shut(timeout);
      Logs.LOG.info("no new requests");
      http.close(closing, timeout);
      long leftNanos = timeout.toNanos() - (Ticker.system().nanos() - startNanos);
      grpc.close(Duration.ofNanos(Math.max(0, leftNanos)));
      rules.close();
      if (expiry != null) {
        expiry.cancel(false);
      }
      housekeeping.shutdown();
      engine.close();
      Logs.LOG.info("stopped");
    } finally {
      state.stopped.countDown();
    }
  }

  /** Ends the drain delay, if one is running or to come. */
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
