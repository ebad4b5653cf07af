package dev.weir.server.internal.http;

import dev.weir.Ticker;
import dev.weir.server.internal.access.Certificates;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.guard.ConnectionGuard;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.EventLoops;
import dev.weir.server.internal.guard.GuardedTask;
import dev.weir.server.internal.guard.Loop;
import dev.weir.server.internal.guard.Port;
import dev.weir.server.internal.guard.UnreadAnswers;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.HttpServerConnection;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.TrustOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP port, on Vert.x: one listener with an event loop for each core, and the same handlers on
 * each loop.
 */
public final class HttpDoor implements Port {
  /**
   * The most requests at once on one HTTP/2 connection: each may have a body that is kept until its
   * end.
   */
  private static final int MAX_STREAMS = 100;

  /**
   * The value by which Vert.x chooses one free port that all instances share. If both ports used
   * the same value, they would be one, and a connection would reach either.
   */
  private static final int FREE_PORT = -1;

  private static final int FREE_ADMIN_PORT = -2;

  private final ServerSettings settings;
  private final HttpLimits limits;
  private final Requests behind;
  private final HttpServerOptions options;
  private final DoorCounters counters;
  private final Ticker ticker;
  private final List<HttpServer> servers = new CopyOnWriteArrayList<>();

  /** True from the beginning of the stop, which each connection hears of some time later. */
  private volatile boolean ending;

  private volatile CompletableFuture<Void> shut = CompletableFuture.completedFuture(null);

  private HttpDoor(
      ServerSettings settings,
      HttpLimits limits,
      Requests behind,
      HttpServerOptions options,
      DoorCounters counters,
      Ticker ticker) {
    this.settings = settings;
    this.limits = limits;
    this.behind = behind;
    this.options = options;
    this.counters = counters;
    this.ticker = ticker;
  }

  /**
   * Opens the port for decisions.
   *
   * @throws IOException if it cannot listen there
   */
  public static HttpDoor open(
      ServerSettings settings,
      EventLoops loops,
      Endpoints endpoints,
      Certificates certificates,
      Tokens tokens,
      DoorCounters counters,
      Ticker ticker)
      throws IOException, InterruptedException {
    Routes routes = new Routes(endpoints.all(), endpoints::quick, tokens);
    return open(settings, loops, routes, certificates, counters, ticker);
  }

  /** Opens a port for decisions with other paths. */
  public static HttpDoor open(
      ServerSettings settings,
      EventLoops loops,
      Routes routes,
      Certificates certificates,
      DoorCounters counters,
      Ticker ticker)
      throws IOException, InterruptedException {
    HttpLimits limits = HttpLimits.ofDecisions(settings);
    HttpServerOptions options = options(settings, limits, certificates);
    X509TrustManager clients = certificates.clients();
    if (clients != null) {
      options.setTrustOptions(TrustOptions.wrap(clients)).setClientAuth(ClientAuth.REQUIRED);
    }
    int port = settings.value(Settings.PORT).orElseThrow();
    options.setHost(settings.value(Settings.HOST)).setPort(port == 0 ? FREE_PORT : port);
    return new HttpDoor(settings, limits, routes, options, counters, ticker).listen(loops);
  }

  /**
   * Opens the port for administration, for HTTP/1.1 alone. Its clients need no certificate: they
   * have tokens.
   *
   * @throws IOException if it cannot listen there
   */
  public static HttpDoor open(
      ServerSettings settings,
      int port,
      EventLoops loops,
      AdminRequests requests,
      Certificates certificates,
      DoorCounters counters,
      Ticker ticker)
      throws IOException, InterruptedException {
    HttpLimits limits = HttpLimits.ofAdministration();
    HttpServerOptions options =
        options(settings, limits, certificates)
            .setUseAlpn(false)
            .setHost(settings.value(Settings.ADMIN_HOST))
            .setPort(port == 0 ? FREE_ADMIN_PORT : port);
    return new HttpDoor(settings, limits, requests, options, counters, ticker).listen(loops);
  }

  private HttpDoor listen(EventLoops loops) throws IOException, InterruptedException {
    EventLoops.await(
        loops
            .vertx()
            .deployVerticle(
                () -> new Listener(), new DeploymentOptions().setInstances(loops.count())));
    return this;
  }

  /**
   * Returns the options of the port. HTTP/2 is only offered over TLS: without TLS, Vert.x would
   * wait for the first bytes before it reports a connection, possibly for ever.
   */
  private static HttpServerOptions options(
      ServerSettings settings, HttpLimits limits, Certificates certificates) {
    HttpServerOptions options =
        new HttpServerOptions()
            .setHandle100ContinueAutomatically(true)
            .setMaxInitialLineLength(limits.lineBytes())
            .setMaxHeaderSize(limits.headBytes())
            .setHttp2ClearTextEnabled(false)
            .setPerFrameWebSocketCompressionSupported(false)
            .setPerMessageWebSocketCompressionSupported(false)
            .setInitialSettings(
                new Http2Settings()
                    .setMaxConcurrentStreams(MAX_STREAMS)
                    .setMaxHeaderListSize(limits.headBytes()));
    if (certificates.exist()) {
      options
          .setIdleTimeout((int) settings.value(Settings.IDLE_TIMEOUT).toSeconds()) // Before HTTP/2.
          .setSsl(true)
          .setSslHandshakeTimeout(settings.value(Settings.REQUEST_TIMEOUT).toMillis())
          .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS)
          .setUseAlpn(true)
          .setKeyCertOptions(KeyCertOptions.wrap(certificates.keys()));
    }
    return options;
  }

  @Override
  public int port() {
    return servers.get(0).actualPort();
  }

  @Override
  public void shut(Duration timeout) {
    ending = true;
    shut =
        CompletableFuture.allOf(
            servers.stream()
                .map(server -> server.shutdown(timeout.toMillis(), TimeUnit.MILLISECONDS))
                .map(done -> done.toCompletionStage().toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new));
  }

  @Override
  public void close(Duration timeout) throws InterruptedException {
    try {
      shut.get(timeout.toMillis() + 1_000, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      Logs.LOG.warning("http: port " + port() + ": not all requests were done in time: " + e);
    }
  }

  private static boolean writable(HttpConnection connection) {
    return !(connection instanceof HttpServerConnection transport)
        || UnreadAnswers.none(transport.channelHandlerContext().channel());
  }

  private static void cut(HttpConnection connection) {
    if (connection instanceof HttpServerConnection transport) {
      ChannelFuture unused = transport.channelHandlerContext().close();
    } else {
      connection.close();
    }
  }

  /** The listener's share on one event loop. */
  private final class Listener extends VerticleBase {
    private final Dispatch dispatch = new Dispatch(behind, limits);
    private final @Nullable Quick quick = behind.quick();
    private final ConnectionGuard<HttpConnection> guard =
        new ConnectionGuard<>(settings, counters, HttpDoor::writable, HttpDoor::cut);

    private void opened(HttpConnection connection) {
      HttpServerConnection transport = (HttpServerConnection) connection;
      boolean http2 = transport.channelHandlerContext().handler() instanceof Http2ConnectionHandler;
      HttpPeer peer =
          http2
              ? HttpPeer.open(transport, counters, () -> cut(connection))
              : HttpInput.open(transport, guard, counters, limits, quick, ticker);
      connection.closeHandler(
          closed -> {
            peer.closed();
            guard.closed(connection);
            behind.closed(connection);
          });
      peer.endsIf(() -> ending);
      EventLoop loop = transport.channelHandlerContext().channel().eventLoop();
      behind.opened(connection, () -> loop.execute(() -> cut(connection)));
      if (!guard.opened(connection, ticker.nanos())) {
        connection.close();
      }
    }

    @Override
    public Future<?> start() {
      Runnable sweep = new GuardedTask(Loop.CONNECTIONS, () -> guard.sweep(ticker.nanos()));
      vertx.setPeriodic(ConnectionGuard.sweepMillis(settings), timer -> sweep.run());
      HttpServer server = vertx.createHttpServer(options);
      server.connectionHandler(this::opened);
      server.requestHandler(request -> dispatch.serve(request, guard, ticker));
      server.invalidRequestHandler(dispatch::refuse);
      servers.add(server);
      return server.listen(options.getPort(), options.getHost());
    }
  }
}
