package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.admin.AdminHandler;
import dev.weir.client.WeirClient;
import dev.weir.server.internal.access.Certificates;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.RlsMessages;
import dev.weir.server.internal.grpc.GrpcDoor;
import dev.weir.server.internal.grpc.QuotaService;
import dev.weir.server.internal.grpc.RlsService;
import dev.weir.server.internal.grpc.WeirService;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.EventLoops;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.guard.UndecidedBytes;
import dev.weir.server.internal.http.AdminRequests;
import dev.weir.server.internal.http.AdminWorkers;
import dev.weir.server.internal.http.Endpoints;
import dev.weir.server.internal.http.HttpDoor;
import dev.weir.server.internal.metrics.Counted;
import dev.weir.server.internal.metrics.ServerMetrics;
import dev.weir.server.internal.resp.RespDoor;
import dev.weir.server.internal.rules.Configuration;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Setting;
import dev.weir.server.settings.Settings;
import dev.weir.server.settings.StartException;
import dev.weir.server.settings.TlsSettings;
import io.grpc.BindableService;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** All ports of a server, on one engine, with one set of threads for HTTP and RESP. */
final class Doors {
  /** The most connections for administration, which serves a few users and tools. */
  private static final int MAX_ADMIN_CONNECTIONS = 100;

  private final ServerSettings settings;
  private final Ticker ticker;
  private final EventLoops loops;
  private final @Nullable Certificates certificates;
  private final @Nullable Certificates grpcCertificates;
  private final PendingBytes pending;
  private final Map<String, DoorCounters> counters = new LinkedHashMap<>();
  private @Nullable GrpcDoor grpc;
  private @Nullable HttpDoor http;
  private @Nullable RespDoor resp;
  private @Nullable HttpDoor admin;
  private @Nullable PrometheusRegistry metrics;
  private @Nullable AdminHandler adminHandler;
  private final AdminWorkers adminWorkers = new AdminWorkers();

  /** For the requests in flight when the ports close. */
  private volatile Duration drainTimeout;

  /** Empty while the server takes requests. */
  private volatile String notReady = "starting";

  private Doors(ServerSettings settings, Ticker ticker) throws StartException {
    this.settings = settings;
    this.ticker = ticker;
    this.drainTimeout = settings.value(Settings.DRAIN_TIMEOUT);
    this.certificates = Certificates.of(settings, TlsSettings.ALL);
    this.grpcCertificates = Certificates.of(settings, TlsSettings.GRPC);
    this.loops = EventLoops.start(settings, ticker);
    this.pending = PendingBytes.of(settings, ticker);
    int connections = settings.value(Settings.MAX_CONNECTIONS);
    for (String door : new String[] {"grpc", "http", "resp"}) {
      counters.put(door, new DoorCounters(connections, pending));
    }
    if (settings.value(Settings.ADMIN_PORT).isPresent()) {
      int few = Math.min(connections, MAX_ADMIN_CONNECTIONS);
      counters.put("admin", new DoorCounters(few, pending));
    }
  }

  /**
   * Opens all ports; they report that the server is not ready.
   *
   * @throws StartException if one cannot be opened; the others are then closed again
   */
  static Doors open(ServerSettings settings, Behind behind, Ticker ticker)
      throws StartException, InterruptedException {
    Doors doors = new Doors(settings, ticker);
    try {
      doors.openAll(behind);
      return doors;
    } catch (StartException | RuntimeException | Error e) {
      doors.close(Duration.ZERO);
      throw e;
    }
  }

  private void openAll(Behind behind) throws StartException, InterruptedException {
    Setting<?> port = Settings.GRPC_PORT;
    Tokens tokens = behind.tokens();
    try {
      GuardedDecider decider =
          new GuardedDecider(
              behind.engine(),
              behind.load(),
              settings.value(Settings.ON_FAILURE),
              ticker,
              behind.traffic(),
              behind.refusals(),
              behind.upstream(),
              new UndecidedBytes(settings.value(Settings.MAX_PENDING_MEMORY)));
      RlsService rls =
          new RlsService(decider, new RlsMessages(settings), times("grpc"), behind.tracing());
      List<BindableService> others =
          List.of(
              new WeirService(decider, times("grpc"), behind.tracing()),
              new QuotaService(settings, decider, ticker));
      Certificates grpcOwn = grpcCertificates == null ? certificates : grpcCertificates;
      grpc =
          GrpcDoor.open(
              settings, rls, others, grpcOwn, tokens, of("grpc"), behind.tracing(), ticker);
      port = Settings.PORT;
      metrics = ServerMetrics.registry(() -> counted(behind));
      Endpoints endpoints =
          new Endpoints(
              decider,
              settings,
              () -> notReady,
              metrics(),
              times("http"),
              behind.tracing(),
              ticker);
      ClusterMembership membership = membership(behind);
      if (membership != null) {
        endpoints.withCluster(membership);
      }
      http = HttpDoor.open(settings, loops, endpoints, certificates, tokens, of("http"), ticker);
      port = Settings.RESP_PORT;
      Optional<Integer> respPort = settings.value(Settings.RESP_PORT);
      if (respPort.isPresent()) {
        resp =
            RespDoor.open(
                settings,
                respPort.get(),
                loops,
                new RespDoor.Behind(decider, behind.buckets(), tokens, ticker),
                certificates,
                of("resp"));
      }
      port = Settings.ADMIN_PORT;
      Optional<Integer> adminPort = settings.value(Settings.ADMIN_PORT);
      AdminHandler handler = behind.admin();
      if (adminPort.isPresent() && handler != null) {
        adminHandler = handler;
        AdminRequests requests = new AdminRequests(handler, adminWorkers, ticker);
        admin =
            HttpDoor.open(
                settings, adminPort.get(), loops, requests, certificates, of("admin"), ticker);
      }
    } catch (IOException e) {
      throw cannotListen(port, e);
    }
  }

  private static @Nullable ClusterMembership membership(Behind behind) {
    SharedStore shared = behind.shared();
    return shared == null ? null : shared.membership();
  }

  private Counted counted(Behind behind) {
    SharedStore shared = behind.shared();
    ClusterMembership membership = membership(behind);
    Configuration configuration = behind.configuration();
    WeirClient upstream = behind.upstream();
    return new Counted(
        behind.engine().metrics(),
        behind.engine().leases().metrics(),
        shared == null ? null : shared.metrics(),
        membership == null ? null : membership::addMetrics,
        configuration == null ? null : configuration.counted(behind.engine().subjectMetrics()),
        upstream == null ? null : upstream.metrics(),
        behind.buckets(),
        counters,
        pending,
        behind.load().load(),
        isReady());
  }

  /** Returns the metrics of {@code GET /metrics}. */
  PrometheusRegistry metrics() {
    return Objects.requireNonNull(metrics); // It is set when the ports are opened.
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
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    Object number =
        settings.value(port) instanceof Optional<?> o ? o.orElse(null) : settings.value(port);
    return new StartException(
        port.flag()
            + ": cannot listen on "
            + settings.value(port == Settings.ADMIN_PORT ? Settings.ADMIN_HOST : Settings.HOST)
            + ":"
            + number
            + ": "
            + cause.getMessage()
            + " (expected: a free port; "
            + port.flag()
            + " or "
            + port.variable()
            + " sets another)",
        e);
  }

  /** Reports that the server is ready. */
  void ready() {
    notReady = "";
    if (grpc != null) {
      grpc.ready();
    }
  }

  /** Reports why the server is not ready; requests are still answered. */
  void notReady(String why) {
    notReady = why;
    if (grpc != null) {
      grpc.notReady();
    }
  }

  boolean isReady() {
    return notReady.isEmpty();
  }

  /** Returns the number of the gRPC port. */
  int grpcPort() {
    return grpc == null ? -1 : grpc.port();
  }

  /** Returns the number of the HTTP port. */
  int httpPort() {
    return http == null ? -1 : http.port();
  }

  /** Returns the number of the port for Redis clients, or -1 if there is none. */
  int respPort() {
    return resp == null ? -1 : resp.port();
  }

  /** Returns the number of the port for administration, or -1 if there is none. */
  int adminPort() {
    return admin == null ? -1 : admin.port();
  }

  /** Reloads certificates that have changed. */
  void refresh() {
    if (certificates != null) {
      certificates.refresh();
    }
    if (grpcCertificates != null) {
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

  /** Takes no more requests, waits for those in flight, and closes. */
  void close(Duration timeout) throws InterruptedException {
    notReady = "stopping";
    if (adminHandler != null) {
      adminHandler.stop();
    }
    long endNanos = ticker.nanos() + timeout.toNanos();
    if (grpc != null) {
      grpc.shut();
    }
    if (resp != null) {
      resp.shut();
    }
    CompletableFuture<Void> closing = shut(http, timeout);
    CompletableFuture<Void> closingAdmin = shut(admin, timeout);
    if (http != null) {
      http.close(closing, timeout);
    }
    if (admin != null) {
      admin.close(closingAdmin, left(endNanos));
    }
    adminWorkers.close();
    if (resp != null) {
      resp.close(left(endNanos));
    }
    loops.close();
    if (grpc != null) {
      grpc.close(left(endNanos));
    }
  }

  private static CompletableFuture<Void> shut(@Nullable HttpDoor door, Duration timeout) {
    return door == null ? CompletableFuture.completedFuture(null) : door.shut(timeout);
  }

  private Duration left(long endNanos) {
    return Duration.ofNanos(Math.max(0, endNanos - ticker.nanos()));
  }
}
