package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.admin.AdminHandler;
import dev.weir.engine.Engine;
import dev.weir.server.internal.access.Certificates;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.grpc.GrpcDoor;
import dev.weir.server.internal.grpc.QuotaService;
import dev.weir.server.internal.grpc.RlsService;
import dev.weir.server.internal.grpc.WeirService;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.EventLoops;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.guard.Port;
import dev.weir.server.internal.guard.UndecidedBytes;
import dev.weir.server.internal.http.AdminRequests;
import dev.weir.server.internal.http.AdminWorkers;
import dev.weir.server.internal.http.Endpoints;
import dev.weir.server.internal.http.HttpDoor;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.metrics.Families;
import dev.weir.server.internal.metrics.MetricSources;
import dev.weir.server.internal.metrics.ServerMetrics;
import dev.weir.server.internal.metrics.StateFamilies;
import dev.weir.server.internal.resp.RespDoor;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Setting;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.internal.settings.TlsSettings;
import dev.weir.server.settings.StartException;
import io.grpc.BindableService;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All ports of a server, on one engine, with one set of threads for HTTP and RESP. */
final class OpenPorts {
  /*
   * In which order do the ports close, and why? First all of them take no more requests; otherwise
   * the last one would still admit some while the others wait. Then the queues end: a refusal after
   * that says that its connection closes. Then the ports wait for their requests, all within one
   * timeout. The threads of HTTP and RESP end after both, and the gRPC port ends its own. A thread
   * that does not end may still decide, so the close fails, and the counts are not saved. Each step
   * runs whatever happens in the ones before it.
   */

  /** The most connections for administration, which serves a few users and tools. */
  private static final int MAX_ADMIN_CONNECTIONS = 100;

  /** The part of the drain timeout in which the last refusals of queues are sent. */
  private static final Duration LAST_REFUSALS = Duration.ofMillis(500);

  private static final String GRPC = "grpc";
  private static final String HTTP = "http";
  private static final String RESP = "resp";
  private static final String ADMIN = "admin";

  private final ServerSettings settings;
  private final ServerParts parts;
  private final Ticker ticker;
  private final EventLoops loops;
  private final Certificates certificates;
  private final Certificates grpcCertificates;
  private final PendingBytes pending;
  private final Map<String, DoorCounters> counters = new LinkedHashMap<>();
  private final Map<String, OpenPort> ports = new LinkedHashMap<>();
  private final PrometheusRegistry metrics;
  private final AdminWorkers adminWorkers = new AdminWorkers();

  /** For the requests in flight when the ports close. */
  private volatile Duration drainTimeout;

  /** Empty while the server takes requests. */
  private volatile String notReady = "starting";

  /**
   * An open port.
   *
   * @param number its number, also after it has closed
   */
  private record OpenPort(Port port, int number) {}

  /** The opening of a port. */
  private interface PortOpening {
    Port open() throws IOException, InterruptedException;
  }

  private OpenPorts(ServerSettings settings, ServerParts parts, Ticker ticker)
      throws StartException {
    this.settings = settings;
    this.parts = parts;
    this.ticker = ticker;
    this.drainTimeout = settings.value(Settings.DRAIN_TIMEOUT);
    this.certificates = Certificates.of(settings, TlsSettings.ALL);
    Certificates own = Certificates.of(settings, TlsSettings.GRPC);
    this.grpcCertificates = own.exist() ? own : certificates;
    this.loops = EventLoops.start(settings, ticker);
    this.pending = PendingBytes.of(settings, ticker);
    int connections = settings.value(Settings.MAX_CONNECTIONS);
    for (String door : new String[] {GRPC, HTTP, RESP}) {
      counters.put(door, new DoorCounters(connections, pending));
    }
    if (settings.value(Settings.ADMIN_PORT).isPresent()) {
      int few = Math.min(connections, MAX_ADMIN_CONNECTIONS);
      counters.put(ADMIN, new DoorCounters(few, pending));
    }
    this.metrics = ServerMetrics.registry(this::counted);
  }

  /** Returns ports that are not open yet. */
  static OpenPorts of(ServerSettings settings, ServerParts parts, Ticker ticker)
      throws StartException {
    return new OpenPorts(settings, parts, ticker);
  }

  /**
   * Opens all ports; they report that the server is not ready.
   *
   * @throws StartException if one cannot be opened; those that are open have to be closed
   */
  void open() throws StartException, InterruptedException {
    GuardedDecider decider =
        GuardedDecider.builder(parts.engine(), parts.load(), ticker)
            .withoutRules(settings.value(Settings.ON_FAILURE))
            .recorder(parts.admin().recorder())
            .refusals(parts.refusals())
            .upstream(parts.upstream().client())
            .undecided(new UndecidedBytes(settings.value(Settings.MAX_PENDING_MEMORY)))
            .build();
    openUnlessOff(GRPC, Settings.GRPC_PORT, () -> grpc(decider));
    openUnlessOff(HTTP, Settings.PORT, () -> http(decider));
    openUnlessOff(RESP, Settings.RESP_PORT, () -> resp(decider));
    Optional<AdminHandler> handler = parts.admin().handler();
    if (handler.isPresent()) {
      open(ADMIN, Settings.ADMIN_PORT, () -> admin(handler.get()));
    }
  }

  private void openUnlessOff(String name, Setting<Optional<Integer>> setting, PortOpening opening)
      throws StartException, InterruptedException {
    if (settings.value(setting).isPresent()) {
      open(name, setting, opening);
    }
  }

  private void open(String name, Setting<?> setting, PortOpening opening)
      throws StartException, InterruptedException {
    try {
      Port port = opening.open();
      ports.put(name, new OpenPort(port, port.port()));
    } catch (IOException e) {
      throw cannotListen(setting, e);
    }
  }

  private Port grpc(GuardedDecider decider) throws IOException {
    Tracing tracing = parts.tracing();
    RlsService rls = new RlsService(decider, settings, times(GRPC), tracing);
    List<BindableService> others =
        List.of(
            new WeirService(decider, times(GRPC), tracing),
            new QuotaService(settings, decider, ticker));
    return GrpcDoor.open(
        settings, rls, others, grpcCertificates, parts.tokens(), of(GRPC), tracing, ticker);
  }

  private Port http(GuardedDecider decider) throws IOException, InterruptedException {
    Endpoints endpoints =
        new Endpoints(decider, settings, () -> notReady, metrics, times(HTTP), parts.tracing());
    parts.shared().addPages(endpoints);
    return HttpDoor.open(
        settings, loops, endpoints, certificates, parts.tokens(), of(HTTP), ticker);
  }

  private Port resp(GuardedDecider decider) throws IOException, InterruptedException {
    return RespDoor.open(
        settings,
        settings.value(Settings.RESP_PORT).orElseThrow(),
        loops,
        new RespDoor.Parts(decider, parts.buckets(), parts.tokens(), ticker),
        certificates,
        of(RESP));
  }

  private Port admin(AdminHandler handler) throws IOException, InterruptedException {
    AdminRequests requests = new AdminRequests(handler, adminWorkers, of(ADMIN), ticker);
    return HttpDoor.open(
        settings,
        settings.value(Settings.ADMIN_PORT).orElseThrow(),
        loops,
        requests,
        certificates,
        of(ADMIN),
        ticker);
  }

  private MetricSources counted() {
    Engine engine = parts.engine();
    return new MetricSources(
        engine.metrics(),
        engine.leases().metrics(),
        engine.refunds(),
        engine.holds().metrics(),
        engine.seats().metrics(),
        this::addOthers,
        parts.buckets(),
        counters,
        pending,
        parts.load().load(),
        isReady());
  }

  private void addOthers(Families to) {
    parts.shared().addMetrics(to);
    if (parts.state().keeps()) {
      StateFamilies.add(to, parts.state().isComplete(), parts.state().journalBytes());
    }
    parts.configuration().addMetrics(to, parts.engine().subjectMetrics());
    parts.upstream().addMetrics(to);
  }

  /** Returns the metrics of {@code GET /metrics}. */
  PrometheusRegistry metrics() {
    return metrics;
  }

  private RequestTimes times(String door) {
    return new RequestTimes(of(door).times(), ticker);
  }

  private DoorCounters of(String door) {
    DoorCounters found = counters.get(door);
    if (found == null) {
      throw new IllegalStateException("door: " + door);
    }
    return found;
  }

  private StartException cannotListen(Setting<?> port, IOException e) {
    Object value = settings.value(port);
    Object number = value instanceof Optional<?> given ? given.orElse(null) : value;
    String host = settings.value(port == Settings.ADMIN_PORT ? Settings.ADMIN_HOST : Settings.HOST);
    return new StartException(
        FreePorts.problem(settings, port, host, number instanceof Integer i ? i : 0, e), e);
  }

  /** Reports that the server is ready. */
  void ready() {
    notReady = "";
    ports.values().forEach(each -> each.port().ready());
  }

  /** Reports why the server is not ready; requests are still answered. */
  void notReady(String why) {
    notReady = why;
    ports.values().forEach(each -> each.port().notReady());
  }

  boolean isReady() {
    return notReady.isEmpty();
  }

  /** Returns the number of the gRPC port, or -1 if there is none. */
  int grpcPort() {
    return number(GRPC);
  }

  /** Returns the number of the HTTP port, or -1 if there is none. */
  int httpPort() {
    return number(HTTP);
  }

  /** Returns the number of the port for Redis clients, or -1 if there is none. */
  int respPort() {
    return number(RESP);
  }

  /** Returns the number of the port for administration, or -1 if there is none. */
  int adminPort() {
    return number(ADMIN);
  }

  private int number(String name) {
    OpenPort port = ports.get(name);
    return port == null ? -1 : port.number();
  }

  /** Reloads certificates that have changed. */
  void refresh() {
    certificates.refresh();
    if (grpcCertificates != certificates) {
      grpcCertificates.refresh();
    }
  }

  Duration drainTimeout() {
    return drainTimeout;
  }

  /** Sets the time for the requests in flight. */
  void drainTimeout(Duration timeout) {
    drainTimeout = timeout;
  }

  /**
   * Takes no more requests, waits for those in flight, and closes. A port that fails to close does
   * not keep the others open.
   *
   * @throws IOException if a thread of the ports may still decide
   */
  void close(Duration timeout) throws IOException, InterruptedException {
    notReady = "stopping";
    long endNanos = ticker.nanos() + timeout.toNanos();
    ClosingSteps steps = new ClosingSteps();
    steps.run(() -> parts.admin().handler().ifPresent(AdminHandler::endStreams));
    for (OpenPort each : ports.values()) {
      steps.run(() -> each.port().shut(timeout));
    }
    // After that: a refusal says that its connection closes.
    steps.run(() -> parts.engine().endQueues(queueTime(timeout)));
    steps.run(() -> close(HTTP, endNanos));
    steps.run(() -> close(ADMIN, endNanos));
    steps.run(adminWorkers::close);
    steps.run(() -> close(RESP, endNanos));
    steps.run(loops::close);
    steps.run(() -> close(GRPC, endNanos));
    steps.end();
  }

  /** Closes without waiting for the requests in flight. */
  void closeAtOnce() {
    try {
      close(Duration.ZERO);
    } catch (IOException e) {
      Logs.LOG.warning("ports: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the time in which requests that wait in queues can still have their turn. */
  private static Duration queueTime(Duration timeout) {
    Duration most = timeout.minus(LAST_REFUSALS);
    return most.isNegative() ? Duration.ZERO : most;
  }

  private void close(String name, long endNanos) throws IOException, InterruptedException {
    OpenPort each = ports.get(name);
    if (each != null) {
      each.port().close(Duration.ofNanos(Math.max(0, endNanos - ticker.nanos())));
    }
  }
}
