package dev.weir.server.internal.grpc;

import dev.weir.Ticker;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.log.FewLines;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.ServerTransportFilter;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelFactory;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionHandler;
import java.net.SocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * The connections of the gRPC port. Each has a {@link GrpcConnection} in front of grpc-java's
 * handlers; calls find it by their transport's attributes. Safe for use by many threads.
 */
final class GrpcConnections extends ServerTransportFilter implements ChannelFactory<ServerChannel> {
  private static final Attributes.Key<GrpcConnection> KEY = Attributes.Key.create("connection");

  /** The identity of a connection: no two open ones have the same two addresses. */
  private record Ends(@Nullable SocketAddress remote, @Nullable SocketAddress local) {}

  private final DoorCounters counters;
  private final long requestNanos;
  private final boolean tls;
  private final Ticker ticker;
  private final FewLines log;
  private final InFlight inFlight = new InFlight();
  private final BooleanSupplier quickOff;

  /** The quick path for usual calls, one for each event loop; null if there is none. */
  private final ThreadLocal<@Nullable QuickRls> quick;

  private final Map<Ends, GrpcConnection> open = new ConcurrentHashMap<>();

  /**
   * @param quickOff returns true while no call is answered ahead of grpc-java
   */
  GrpcConnections(
      ServerSettings settings,
      DoorCounters counters,
      RlsService rls,
      BooleanSupplier quickOff,
      boolean tls,
      Ticker ticker) {
    this.quickOff = quickOff;
    int maxBodyBytes = settings.value(Settings.MAX_BODY_BYTES);
    quick = ThreadLocal.withInitial(() -> rls.quick(maxBodyBytes));
    this.counters = counters;
    this.requestNanos = settings.value(Settings.REQUEST_TIMEOUT).toNanos();
    this.tls = tls;
    this.ticker = ticker;
    log = new FewLines(ticker);
  }

  /** Returns the number of calls for which a stopping server waits. */
  InFlight inFlight() {
    return inFlight;
  }

  /** Returns a listener whose connections begin with a {@link GrpcConnection}. */
  @Override
  public ServerChannel newChannel() {
    ServerChannel listener =
        Epoll.isAvailable() ? new EpollServerSocketChannel() : new NioServerSocketChannel();
    listener.pipeline().addLast("weir-accept", new AcceptHandler());
    return listener;
  }

  /** The handler that sees connections before grpc-java. */
  private final class AcceptHandler extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext ctx, Object accepted) {
      GrpcConnections all = GrpcConnections.this;
      ((Channel) accepted)
          .pipeline()
          .addFirst("weir-connection", new GrpcConnection(all, counters, requestNanos, ticker));
      ctx.fireChannelRead(accepted);
    }
  }

  /**
   * Counts a new connection; returns whether there is room for it. Its close must be counted in
   * both cases.
   */
  boolean opened(GrpcConnection connection, Channel channel) {
    open.put(new Ends(channel.remoteAddress(), channel.localAddress()), connection);
    return counters.opened();
  }

  void closed(GrpcConnection connection, Channel channel) {
    counters.closed();
    open.remove(new Ends(channel.remoteAddress(), channel.localAddress()), connection);
  }

  /**
   * Puts the quick path in front of grpc-java's listener of frames; returns null if there is none.
   */
  @Nullable QuickCalls quick(ChannelHandlerContext context) {
    QuickRls rls = quick.get();
    if (rls == null) {
      return null;
    }
    Http2ConnectionHandler codec = (Http2ConnectionHandler) context.handler();
    QuickCalls calls = new QuickCalls(codec, context, rls, inFlight, quickOff);
    codec.decoder().frameListener(calls);
    return calls;
  }

  void timedOut() {
    counters.timedOut();
  }

  boolean tls() {
    return tls;
  }

  int maxConnections() {
    return counters.maxConnections();
  }

  String tooMany() {
    return "connections: too many (expected: at most " + counters.maxConnections() + ")";
  }

  String refusal() {
    return counters.pending().refusal();
  }

  /** Logs errors of connections, in few lines. */
  void failed(@Nullable SocketAddress client, Throwable cause) {
    log.write(Level.WARNING, "grpc: " + client + ": closed: " + cause);
  }

  @Override
  public Attributes transportReady(Attributes attributes) {
    Ends ends =
        new Ends(
            attributes.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR),
            attributes.get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR));
    GrpcConnection connection = open.get(ends);
    if (connection == null) {
      return attributes; // It is closed already.
    }
    return attributes.toBuilder().set(KEY, connection).build();
  }

  /** Returns the connection of a call, or null if it is closed already. */
  static @Nullable GrpcConnection of(Attributes attributes) {
    return attributes.get(KEY);
  }
}
