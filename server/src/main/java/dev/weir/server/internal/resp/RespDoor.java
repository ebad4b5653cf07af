package dev.weir.server.internal.resp;

import dev.weir.Ticker;
import dev.weir.engine.CallerBuckets;
import dev.weir.server.internal.access.Certificates;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.guard.ConnectionGuard;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.EventLoops;
import dev.weir.server.internal.guard.GuardedTask;
import dev.weir.server.internal.guard.Loop;
import dev.weir.server.internal.guard.Port;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** The port for every client of Redis. It parses its own bytes, on the server's event loops. */
public final class RespDoor implements Port {
  private static final int BACKLOG = 1_024;

  /** The seconds in which a listener closes; it closes at once unless its thread has died. */
  private static final int SHUT_SECONDS = 1;

  /** The longest wait for connections that are cut off. */
  private static final int CLOSE_SECONDS = 1;

  /** The most reads of a connection per turn, so that a busy one does not hold up the others. */
  private static final int MAX_READS_PER_TURN = 1;

  /**
   * The least room of a read: commands of one read are decided together, so as many as possible
   * should fit.
   */
  private static final int LEAST_READ_BYTES = 16 << 10;

  private static final int MOST_READ_BYTES = 64 << 10;

  private static final WriteBufferWaterMark UNREAD = new WriteBufferWaterMark(64 << 10, 256 << 10);

  /** The parts of a server that the port uses. */
  public record Parts(
      GuardedDecider decider, CallerBuckets buckets, Tokens tokens, Ticker ticker) {}

  private final ServerSettings settings;
  private final Parts parts;
  private final @Nullable SslContext tls;
  private final DoorCounters counters;
  private final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Map<EventLoop, RespLoop> loops = new ConcurrentHashMap<>();
  private final AtomicLong connections = new AtomicLong();
  private final Channel listener;

  /** True when no new connections are taken. */
  private volatile boolean shut;

  private RespDoor(
      ServerSettings settings,
      int port,
      EventLoops eventLoops,
      Parts parts,
      Certificates certificates,
      DoorCounters counters)
      throws IOException, InterruptedException {
    this.settings = settings;
    this.parts = parts;
    this.tls = certificates.exist() ? tls(certificates) : null;
    this.counters = counters;
    ServerBootstrap bootstrap =
        eventLoops
            .bootstrap()
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(ChannelOption.RECVBUF_ALLOCATOR, reads(certificates.exist()))
            .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, UNREAD)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    accept(channel);
                  }
                });
    ChannelFuture bound =
        bootstrap.bind(new InetSocketAddress(settings.value(Settings.HOST), port)).await();
    if (!bound.isSuccess()) {
      throw new IOException(bound.cause());
    }
    listener = bound.channel();
  }

  /**
   * Opens the port.
   *
   * @throws IOException if it cannot listen there
   */
  public static RespDoor open(
      ServerSettings settings,
      int port,
      EventLoops eventLoops,
      Parts parts,
      Certificates certificates,
      DoorCounters counters)
      throws IOException, InterruptedException {
    return new RespDoor(settings, port, eventLoops, parts, certificates, counters);
  }

  /**
   * Returns the room for each read. By its default, Netty offers less and less room while commands
   * come one by one, and then needs nine reads for the next 64. A read is not kept, except by TLS
   * until its record is complete. There Netty's default is used, since a record is passed on as a
   * whole anyway.
   */
  static RecvByteBufAllocator reads(boolean tls) {
    AdaptiveRecvByteBufAllocator reads =
        tls
            ? new AdaptiveRecvByteBufAllocator()
            : new AdaptiveRecvByteBufAllocator(LEAST_READ_BYTES, LEAST_READ_BYTES, MOST_READ_BYTES);
    return reads.maxMessagesPerRead(MAX_READS_PER_TURN);
  }

  private static SslContext tls(Certificates certificates) throws IOException {
    SslContextBuilder builder = SslContextBuilder.forServer(certificates.keys());
    X509TrustManager clients = certificates.clients();
    if (clients != null) {
      builder.trustManager(clients).clientAuth(ClientAuth.REQUIRE);
    }
    return builder.build();
  }

  private void accept(Channel channel) {
    RespLoop loop = loops.computeIfAbsent(channel.eventLoop(), this::loop);
    open.add(channel);
    if (shut) {
      ChannelFuture unused = channel.close(); // It came while the port was being shut.
      return;
    }
    RespSession session =
        new RespSession(connections.incrementAndGet(), !parts.tokens().required());
    if (tls != null) {
      SslHandler handler = tls.newHandler(channel.alloc());
      handler.setHandshakeTimeoutMillis(settings.value(Settings.REQUEST_TIMEOUT).toMillis());
      channel.pipeline().addLast(handler);
    }
    channel
        .pipeline()
        .addLast(new RespConnection(loop, session, settings.value(Settings.MAX_BODY_BYTES)));
  }

  private RespLoop loop(EventLoop eventLoop) {
    RespLoop loop = new RespLoop(settings, parts, counters);
    long sweepMillis = ConnectionGuard.sweepMillis(settings);
    Ticker ticker = parts.ticker();
    ScheduledFuture<?> unused =
        eventLoop.scheduleWithFixedDelay(
            new GuardedTask(Loop.CONNECTIONS, () -> loop.guard.sweep(ticker.nanos())),
            sweepMillis,
            sweepMillis,
            TimeUnit.MILLISECONDS);
    return loop;
  }

  @Override
  public int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  /**
   * Takes no new connections and reads no more commands. Each connection closes when the commands
   * that were read are answered.
   */
  @Override
  public void shut(Duration timeout) throws InterruptedException {
    shut = true;
    ChannelFuture closed = listener.close();
    open.forEach(channel -> channel.pipeline().fireUserEventTriggered(RespConnection.DRAIN));
    if (!closed.await(SHUT_SECONDS, TimeUnit.SECONDS)) {
      Logs.LOG.warning("resp: the listener is still closing");
    }
  }

  /**
   * Waits until the commands that were read are answered, as far as their clients read and the
   * store answers, and closes.
   */
  @Override
  public void close(Duration timeout) throws InterruptedException {
    if (!timeout.isZero()
        && !open.newCloseFuture().await(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
      Logs.LOG.warning("resp: not all commands were answered in time");
    }
    // With TLS, a client that does not read is only cut off after seconds, or with its event loop.
    if (!open.close().await(CLOSE_SECONDS, TimeUnit.SECONDS)) {
      Logs.LOG.warning("resp: connections are still closing");
    }
  }
}
