package dev.weir.server.internal.grpc;

import dev.weir.Ticker;
import dev.weir.server.internal.access.Certificates;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.LoopLag;
import dev.weir.server.internal.guard.Port;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Setting;
import dev.weir.server.internal.settings.Settings;
import io.grpc.BindableService;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.TlsServerCredentials;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.grpc.netty.shaded.io.netty.util.concurrent.Future;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.X509TrustManager;

/**
 * The gRPC port: the rate limit service, health and reflection on grpc-java's own Netty server.
 * Calls are answered on the transport's event loop; nothing there may block.
 */
public final class GrpcDoor implements Port {
  /** The most bytes of metadata, a few times as many as a service mesh adds to a call. */
  private static final int MAX_METADATA_BYTES = 16 << 10;

  /** The most streams that a client may open and reset at once: more are an attack. */
  private static final int MAX_RESETS = 200;

  private static final int RESET_WINDOW_SECONDS = 10;

  /**
   * The most bytes of one read. Reads are small because a piece of a message keeps the whole read
   * it came with in memory.
   */
  private static final int MAX_READ_BYTES = 16 << 10;

  /** The most bytes of messages that a client may send before the server requests them. */
  private static final int FLOW_BYTES = 256 << 10;

  /** The time for clients to notice that they should connect elsewhere. */
  private static final long LINGER_NANOS = 500_000_000L;

  /** The time in which event loops end; they end at once unless one of them hangs. */
  private static final long END_SECONDS = 1;

  /** The services whose health is reported: all together, and each. */
  private static final List<String> SERVICES =
      List.of(
          HealthStatusManager.SERVICE_NAME_ALL_SERVICES,
          "ratelimit", // The name of envoyproxy/ratelimit, which probes of Kubernetes ask for.
          dev.weir.protocol.envoy.RateLimitServiceGrpc.SERVICE_NAME,
          dev.weir.protocol.envoy.RateLimitQuotaServiceGrpc.SERVICE_NAME,
          dev.weir.protocol.v1.WeirGrpc.SERVICE_NAME);

  private final HealthStatusManager health;
  private final InFlight inFlight;
  private final Server server;
  private final List<EventLoopGroup> groups;
  private final Ticker ticker;

  private GrpcDoor(
      HealthStatusManager health,
      InFlight inFlight,
      Server server,
      List<EventLoopGroup> groups,
      Ticker ticker) {
    this.groups = groups;
    this.health = health;
    this.inFlight = inFlight;
    this.server = server;
    this.ticker = ticker;
  }

  /**
   * Opens the port. Its health is NOT_SERVING until {@link #ready()}.
   *
   * @param rls the rate limit service
   * @param others services besides it
   * @throws IOException if it cannot listen there
   */
  public static GrpcDoor open(
      ServerSettings settings,
      RlsService rls,
      List<BindableService> others,
      Certificates certificates,
      Tokens tokens,
      DoorCounters counters,
      Tracing tracing,
      Ticker ticker)
      throws IOException {
    HealthStatusManager health = new HealthStatusManager();
    health.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, ServingStatus.NOT_SERVING);
    InetSocketAddress address =
        new InetSocketAddress(
            settings.value(Settings.HOST), settings.value(Settings.GRPC_PORT).orElseThrow());
    boolean epoll = Epoll.isAvailable();
    GrpcConnections connections =
        new GrpcConnections(
            settings, counters, rls, tokens::required, certificates.exist(), ticker);
    InFlight inFlight = connections.inFlight();
    EventLoopGroup acceptor = group(epoll, 1, "weir-grpc-acceptor");
    EventLoopGroup loops =
        group(epoll, Runtime.getRuntime().availableProcessors(), "weir-grpc-loop");
    loops.forEach(loop -> LoopLag.watch(loop, settings, ticker));
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(address, credentials(certificates))
            .directExecutor()
            .channelFactory(connections)
            .withChildOption(
                ChannelOption.RECVBUF_ALLOCATOR,
                new AdaptiveRecvByteBufAllocator(64, 2_048, MAX_READ_BYTES))
            .flowControlWindow(FLOW_BYTES)
            .bossEventLoopGroup(acceptor)
            .workerEventLoopGroup(loops)
            .addServices(offered(rls, others, health))
            .addTransportFilter(connections)
            .addStreamTracerFactory(new GrpcStream.Factory(ticker))
            .intercept(new Admission(tokens, inFlight, counters.maxConnections()))
            .maxInboundMessageSize(settings.value(Settings.MAX_BODY_BYTES))
            .maxInboundMetadataSize(MAX_METADATA_BYTES)
            .maxConcurrentCallsPerConnection(settings.value(Settings.MAX_STREAMS))
            .maxRstFramesPerWindow(MAX_RESETS, RESET_WINDOW_SECONDS)
            .handshakeTimeout(nanos(settings, Settings.REQUEST_TIMEOUT), TimeUnit.NANOSECONDS)
            .maxConnectionIdle(nanos(settings, Settings.IDLE_TIMEOUT), TimeUnit.NANOSECONDS)
            .permitKeepAliveTime(nanos(settings, Settings.MIN_KEEPALIVE), TimeUnit.NANOSECONDS)
            .permitKeepAliveWithoutCalls(true);
    if (tracing.isOn()) {
      builder.intercept(new TraceContexts(tracing));
    }
    if (!settings.value(Settings.MAX_CONNECTION_AGE).isZero()) {
      builder
          .maxConnectionAge(nanos(settings, Settings.MAX_CONNECTION_AGE), TimeUnit.NANOSECONDS)
          .maxConnectionAgeGrace(
              nanos(settings, Settings.MAX_CONNECTION_AGE_GRACE), TimeUnit.NANOSECONDS);
    }
    try {
      return new GrpcDoor(
          health, inFlight, builder.build().start(), List.of(acceptor, loops), ticker);
    } catch (IOException e) {
      end(List.of(acceptor, loops));
      throw e;
    }
  }

  private static List<ServerServiceDefinition> offered(
      RlsService rls, List<BindableService> others, HealthStatusManager health) {
    List<ServerServiceDefinition> offered = new ArrayList<>();
    offered.add(GrpcMessages.parsedLate(rls.bindService()));
    for (BindableService service : others) {
      offered.add(GrpcMessages.parsedLate(service.bindService()));
    }
    offered.add(
        GrpcMessages.parsedLate(
            ServerInterceptors.intercept(health.getHealthService(), new HealthNames())));
    offered.add(GrpcMessages.parsedLate(ProtoReflectionServiceV1.newInstance().bindService()));
    return offered;
  }

  private static EventLoopGroup group(boolean epoll, int threads, String name) {
    ThreadFactory factory = new DefaultThreadFactory(name, true);
    return new MultiThreadIoEventLoopGroup(
        threads, factory, epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
  }

  private static void end(List<EventLoopGroup> groups) {
    for (EventLoopGroup group : groups) {
      Future<?> unused = group.shutdownGracefully(0, END_SECONDS, TimeUnit.SECONDS);
    }
  }

  private static long nanos(ServerSettings settings, Setting<Duration> setting) {
    return settings.value(setting).toNanos();
  }

  private static ServerCredentials credentials(Certificates certificates) {
    if (!certificates.exist()) {
      return InsecureServerCredentials.create();
    }
    TlsServerCredentials.Builder tls =
        TlsServerCredentials.newBuilder().keyManager(certificates.keys());
    X509TrustManager clients = certificates.clients();
    if (clients != null) {
      tls.trustManager(clients).clientAuth(TlsServerCredentials.ClientAuth.REQUIRE);
    }
    return tls.build();
  }

  @Override
  public int port() {
    return server.getPort();
  }

  @Override
  public void ready() {
    report(ServingStatus.SERVING);
  }

  /** Reports NOT_SERVING until it is {@linkplain #ready() ready} again. */
  @Override
  public void notReady() {
    report(ServingStatus.NOT_SERVING);
  }

  private void report(ServingStatus status) {
    SERVICES.forEach(each -> health.setStatus(each, status));
  }

  /** Takes no new calls; those in flight go on. */
  @Override
  public void shut(Duration timeout) {
    server.shutdown();
  }

  @Override
  public void close(Duration timeout) throws IOException, InterruptedException {
    if (!endCalls(ticker.nanos() + timeout.toNanos())) {
      server.shutdownNow();
      if (!server.awaitTermination(1, TimeUnit.SECONDS)) {
        Logs.LOG.warning("grpc: connections are still closing");
      }
    }
    end(groups);
    for (EventLoopGroup group : groups) {
      if (!group.terminationFuture().await(END_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException("grpc: an event loop still runs");
      }
    }
  }

  /**
   * Waits for the calls in flight, also for those that arrive before their clients know of the
   * stop; returns whether all connections have closed.
   */
  private boolean endCalls(long endNanos) throws InterruptedException {
    while (true) {
      boolean none = inFlight.awaitNone(endNanos - ticker.nanos());
      long linger = Math.max(0, Math.min(endNanos - ticker.nanos(), LINGER_NANOS));
      if (server.awaitTermination(linger, TimeUnit.NANOSECONDS)) {
        return true;
      }
      if (!none || inFlight.isNone() || endNanos - ticker.nanos() <= 0) {
        return false;
      }
    }
  }
}
