package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.engine.CallerBuckets;
import dev.weir.engine.Engine;
import dev.weir.server.door.Certificates;
import dev.weir.server.door.DoorCounters;
import dev.weir.server.door.EventLoops;
import dev.weir.server.door.GuardedDecider;
import dev.weir.server.door.PendingBytes;
import dev.weir.server.door.RlsMessages;
import dev.weir.server.door.SystemLoad;
import dev.weir.server.door.Tokens;
import dev.weir.server.grpc.GrpcDoor;
import dev.weir.server.grpc.RlsService;
import dev.weir.server.grpc.WeirService;
import dev.weir.server.http.Endpoints;
import dev.weir.server.http.HttpDoor;
import dev.weir.server.metrics.Counted;
import dev.weir.server.metrics.ServerMetrics;
import dev.weir.server.resp.RespDoor;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Setting;
import dev.weir.server.settings.Settings;
import dev.weir.server.settings.StartException;
import dev.weir.server.settings.TlsSettings;
import dev.weir.shared.SharedMetrics;
import io.grpc.BindableService;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** All ports of a server, on one engine, with one set of threads for HTTP and RESP. */
final class Doors {
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
  private volatile boolean ready;

  private Doors(ServerSettings settings, Ticker ticker) throws StartException {
    this.settings = settings;
    this.ticker = ticker;
    this.certificates = Certificates.of(settings, TlsSettings.ALL);
    this.grpcCertificates = Certificates.of(settings, TlsSettings.GRPC);
    this.loops = EventLoops.start(settings, ticker);
    this.pending = PendingBytes.of(settings, ticker);
    for (String door : new String[] {"grpc", "http", "resp"}) {
      counters.put(door, new DoorCounters(settings.value(Settings.MAX_CONNECTIONS), pending));
    }
  }

  /**
   * Opens all ports; they report that the server is not ready.
   *
   * @param load the load for elastic rules
   * @param shared the shared store, for the metrics page, or null
   * @throws StartException if one cannot be opened; the others are then closed again
   */
  static Doors open(
      ServerSettings settings,
      Engine engine,
      SystemLoad load,
      @Nullable SharedStore shared,
      CallerBuckets buckets,
      Tokens tokens,
      Ticker ticker)
      throws StartException, InterruptedException {
    Doors doors = new Doors(settings, ticker);
    try {
      doors.openAll(engine, load, shared, buckets, tokens, ticker);
      return doors;
    } catch (StartException | RuntimeException | Error e) {
      doors.close(Duration.ZERO);
      throw e;
    }
  }

  private void openAll(
      Engine engine,
      SystemLoad load,
      @Nullable SharedStore shared,
      CallerBuckets buckets,
      Tokens tokens,
      Ticker ticker)
      throws StartException, InterruptedException {
    Setting<?> port = Settings.GRPC_PORT;
    try {
      GuardedDecider decider = new GuardedDecider(engine, load, ticker);
      List<BindableService> services =
          List.of(new RlsService(decider, new RlsMessages(settings)), new WeirService(decider));
      Certificates grpcOwn = grpcCertificates == null ? certificates : grpcCertificates;
      grpc = GrpcDoor.open(settings, services, grpcOwn, tokens, of("grpc"), ticker);
      port = Settings.PORT;
      Endpoints endpoints =
          new Endpoints(
              decider,
              settings,
              () -> ready,
              ServerMetrics.registry(() -> counted(engine, load, shared, buckets)),
              ticker);
      http =
          HttpDoor.open(settings, loops, endpoints.all(), certificates, tokens, of("http"), ticker);
      port = Settings.RESP_PORT;
      Optional<Integer> respPort = settings.value(Settings.RESP_PORT);
      if (respPort.isPresent()) {
        resp =
            RespDoor.open(
                settings,
                respPort.get(),
                loops,
                new RespDoor.Behind(decider, buckets, tokens, ticker),
                certificates,
                of("resp"));
      }
    } catch (IOException e) {
      throw cannotListen(port, e);
    }
  }

  private Counted counted(
      Engine engine, SystemLoad load, @Nullable SharedStore shared, CallerBuckets buckets) {
    SharedMetrics store = shared == null ? null : shared.metrics();
    return new Counted(engine.metrics(), store, buckets, counters, pending, load.load(), ready);
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
            + settings.value(Settings.HOST)
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
    ready = true;
    if (grpc != null) {
      grpc.ready();
    }
  }

  /** Reports that the server is not ready any more, and goes on answering. */
  void notReady() {
    ready = false;
    if (grpc != null) {
      grpc.notReady();
    }
  }

  boolean isReady() {
    return ready;
  }

  /** Returns the port of the gRPC door. */
  int grpcPort() {
    return grpc == null ? -1 : grpc.port();
  }

  /** Returns the port of the HTTP door. */
  int httpPort() {
    return http == null ? -1 : http.port();
  }

  /** Returns the port of the RESP door, or -1 if there is none. */
  int respPort() {
    return resp == null ? -1 : resp.port();
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

  /** Takes no more requests, waits for those in flight, and closes. */
  void close(Duration timeout) throws InterruptedException {
    ready = false;
    long endNanos = ticker.nanos() + timeout.toNanos();
    if (grpc != null) {
      grpc.shut();
    }
    if (resp != null) {
      resp.shut();
    }
    CompletableFuture<Void> closing =
        http == null ? CompletableFuture.completedFuture(null) : http.shut(timeout);
    if (http != null) {
      http.close(closing, timeout);
    }
    if (resp != null) {
      resp.close(left(endNanos));
    }
    loops.close();
    if (grpc != null) {
      grpc.close(left(endNanos));
    }
  }

  private Duration left(long endNanos) {
    return Duration.ofNanos(Math.max(0, endNanos - ticker.nanos()));
  }
}
