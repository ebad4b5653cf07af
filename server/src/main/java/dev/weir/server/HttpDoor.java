package dev.weir.server;

import dev.weir.Ticker;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The HTTP door, on Vert.x: one listener, an event loop for each core, the same endpoints on each.
 */
final class HttpDoor {
  /** No path of the server is longer than 20 characters; a query is of no use to it. */
  private static final int MAX_LINE_BYTES = 4_096;

  private static final int MAX_HEADER_BYTES = 16 << 10;
  private static final int START_SECONDS = 30;

  /** Asks Vert.x for one free port that all instances share. */
  private static final int SHARED_FREE_PORT = -1;

  private final Vertx vertx;
  private final List<HttpServer> servers = new CopyOnWriteArrayList<>();

  private HttpDoor(Vertx vertx) {
    this.vertx = vertx;
  }

  /**
   * Opens the door.
   *
   * @throws IOException if it cannot listen there
   */
  static HttpDoor open(
      ServerSettings settings, List<Endpoint> endpoints, DoorCounters counters, Ticker ticker)
      throws IOException, InterruptedException {
    int loops = Runtime.getRuntime().availableProcessors();
    Vertx vertx =
        Vertx.vertx(
            new VertxOptions()
                .setEventLoopPoolSize(loops)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(2)
                .setFileSystemOptions(
                    new FileSystemOptions()
                        .setClassPathResolvingEnabled(false)
                        .setFileCachingEnabled(false)));
    HttpDoor door = new HttpDoor(vertx);
    try {
      await(
          vertx.deployVerticle(
              () ->
                  door.new Listener(settings, new Dispatch(settings, endpoints), counters, ticker),
              new DeploymentOptions().setInstances(loops)));
    } catch (IOException e) {
      vertx.close();
      throw e;
    }
    return door;
  }

  private static <T> void await(Future<T> future) throws IOException, InterruptedException {
    try {
      future.toCompletionStage().toCompletableFuture().get(START_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("no answer within " + START_SECONDS + " s", e);
    }
  }

  int port() {
    return servers.get(0).actualPort();
  }

  /** Takes no new requests; those in flight have that long to end. */
  CompletableFuture<Void> shut(Duration timeout) {
    return CompletableFuture.allOf(
        servers.stream()
            .map(server -> server.shutdown(timeout.toMillis(), TimeUnit.MILLISECONDS))
            .map(done -> done.toCompletionStage().toCompletableFuture())
            .toArray(CompletableFuture<?>[]::new));
  }

  /** Waits for the requests in flight, then closes. */
  void close(CompletableFuture<Void> shut, Duration timeout) throws InterruptedException {
    try {
      shut.get(timeout.toMillis() + 1_000, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      Logs.LOG.warning("http: not all requests were done in time: " + e);
    }
    try {
      await(vertx.close());
    } catch (IOException e) {
      Logs.LOG.warning("http: " + e.getMessage());
    }
  }

  /** The listener's share on one event loop. */
  private final class Listener extends VerticleBase {
    private final ServerSettings settings;
    private final Dispatch dispatch;
    private final Ticker ticker;
    private final ConnectionGuard guard;

    Listener(ServerSettings settings, Dispatch dispatch, DoorCounters counters, Ticker ticker) {
      this.settings = settings;
      this.dispatch = dispatch;
      this.ticker = ticker;
      this.guard =
          new ConnectionGuard(
              settings.value(Setting.REQUEST_TIMEOUT).toNanos(),
              settings.value(Setting.IDLE_TIMEOUT).toNanos(),
              counters);
    }

    @Override
    public Future<?> start() {
      long sweepMillis =
          Math.max(20, Math.min(1_000, settings.value(Setting.REQUEST_TIMEOUT).toMillis() / 4));
      vertx.setPeriodic(sweepMillis, timer -> guard.sweep(ticker.nanos()));
      int port = settings.value(Setting.PORT);
      HttpServer server =
          vertx.createHttpServer(
              new HttpServerOptions()
                  .setHttp2ClearTextEnabled(false)
                  .setPerFrameWebSocketCompressionSupported(false)
                  .setPerMessageWebSocketCompressionSupported(false)
                  .setHandle100ContinueAutomatically(true)
                  .setMaxInitialLineLength(MAX_LINE_BYTES)
                  .setMaxHeaderSize(MAX_HEADER_BYTES));
      server.connectionHandler(connection -> guard.opened(connection, ticker.nanos()));
      server.requestHandler(request -> dispatch.serve(request, guard, ticker));
      servers.add(server);
      return server.listen(port == 0 ? SHARED_FREE_PORT : port, settings.value(Setting.HOST));
    }
  }
}
