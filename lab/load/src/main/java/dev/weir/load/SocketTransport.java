package dev.weir.load;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** The connections to the ports, on Netty, and their threads. Lost connections are opened again. */
final class SocketTransport implements AutoCloseable {
  private static final int CONNECT_MILLIS = 10_000;
  private static final long CLOSE_MILLIS = 2_000;

  private static final ApplicationProtocolConfig HTTP_2 =
      new ApplicationProtocolConfig(
          ApplicationProtocolConfig.Protocol.ALPN,
          ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
          ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
          ApplicationProtocolNames.HTTP_2);

  private final LoadPlan plan;
  private final @Nullable SslContext tls;
  private final MultiThreadIoEventLoopGroup group;
  private final List<EventLoop> loops = new ArrayList<>();
  private volatile boolean closed;

  private SocketTransport(LoadPlan plan, int loops, @Nullable SslContext tls) {
    this.plan = plan;
    this.tls = tls;
    this.group =
        new MultiThreadIoEventLoopGroup(
            loops, new DefaultThreadFactory("weir-bench", true), NioIoHandler.newFactory());
    for (int i = 0; i < loops; i++) {
      this.loops.add(group.next());
    }
  }

  /**
   * @throws SSLException if the certificates cannot be used
   */
  static SocketTransport create(LoadPlan plan, int loops) throws SSLException {
    Path ca = plan.access().tlsCa();
    SslContext tls = null;
    if (ca != null) {
      SslContextBuilder builder =
          SslContextBuilder.forClient()
              .trustManager(ca.toFile())
              .endpointIdentificationAlgorithm("HTTPS");
      if (plan.door() == Door.GRPC) {
        builder.applicationProtocolConfig(HTTP_2);
      }
      tls = builder.build();
    }
    return new SocketTransport(plan, loops, tls);
  }

  /** Returns a loop by its number. */
  Loop loop(int index) {
    EventLoop loop = loops.get(index);
    return new Loop() {
      @Override
      public void execute(Runnable task) {
        loop.execute(task);
      }

      @Override
      public void later(long delayNanos, Runnable task) {
        var unused = loop.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
      }
    };
  }

  /**
   * Opens a connection on a loop, and reports to the lane whenever it goes up or down.
   *
   * @return a future that is done when the connection can be used for the first time
   */
  CompletableFuture<Void> open(int loop, Lane lane, LoadPlan.Target target) {
    CompletableFuture<Void> ready = new CompletableFuture<>();
    connect(loops.get(loop), lane, target, ready, false);
    return ready;
  }

  /** Connects; a failed attempt is repeated only if the connection replaces a lost one. */
  private void connect(
      EventLoop loop,
      Lane lane,
      LoadPlan.Target target,
      CompletableFuture<Void> ready,
      boolean replacing) {
    ChannelFuture connecting =
        new Bootstrap()
            .group(loop)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
            .handler(new Pipeline(lane, target, ready))
            .connect(target.address());
    connecting.addListener(
        connected -> {
          if (!connected.isSuccess()) {
            ready.completeExceptionally(connected.cause());
          }
        });
    connecting
        .channel()
        .closeFuture()
        .addListener(
            over -> {
              boolean wasUp = ready.isDone() && !ready.isCompletedExceptionally();
              if (!closed && (wasUp || replacing)) {
                var unused =
                    loop.schedule(
                        () -> connect(loop, lane, target, new CompletableFuture<>(), true),
                        Lane.PAUSE_NANOS,
                        TimeUnit.NANOSECONDS);
              }
            });
  }

  /** Closes all connections and ends the threads. */
  @Override
  public void close() {
    closed = true;
    group
        .shutdownGracefully(0, CLOSE_MILLIS, TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(CLOSE_MILLIS);
  }

  private final class Pipeline extends ChannelInitializer<Channel> {
    private final Lane lane;
    private final LoadPlan.Target target;
    private final CompletableFuture<Void> ready;

    Pipeline(Lane lane, LoadPlan.Target target, CompletableFuture<Void> ready) {
      this.lane = lane;
      this.target = target;
      this.ready = ready;
    }

    @Override
    protected void initChannel(Channel channel) {
      ChannelPipeline pipeline = channel.pipeline();
      if (tls != null) {
        pipeline.addLast(
            tls.newHandler(channel.alloc(), target.host(), target.address().getPort()));
      }
      switch (plan.door()) {
        case GRPC -> {
          GrpcClientHandler client = new GrpcClientHandler(plan, target, lane, ready);
          pipeline.addLast(client.reader(), client);
        }
        case HTTP, JSON ->
            pipeline.addLast(
                new HttpResponseDecoder(), new HttpClientHandler(plan, target, lane, ready));
        default ->
            pipeline.addLast(new RespReader(), new RespClientHandler(plan, target, lane, ready));
      }
    }
  }
}
