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
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Connections that carry HTTP/1.1 or Redis's protocol, on Netty. Lost ones are opened again. */
final class SocketTransport implements Transport {
  private static final int CONNECT_MILLIS = 10_000;
  private static final long CLOSE_MILLIS = 2_000;

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
    SslContext tls =
        plan.tlsCa() == null
            ? null
            : SslContextBuilder.forClient()
                .trustManager(plan.tlsCa().toFile())
                .endpointIdentificationAlgorithm("HTTPS")
                .build();
    return new SocketTransport(plan, loops, tls);
  }

  @Override
  public Loop loop(int index) {
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

  @Override
  public CompletableFuture<Void> open(int loop, Lane lane) {
    CompletableFuture<Void> ready = new CompletableFuture<>();
    connect(loops.get(loop), lane, ready, false);
    return ready;
  }

  /** A connection that cannot be opened is tried again only if it replaces a lost one. */
  private void connect(
      EventLoop loop, Lane lane, CompletableFuture<Void> ready, boolean replacing) {
    ChannelFuture connecting =
        new Bootstrap()
            .group(loop)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
            .handler(new Pipeline(lane, ready))
            .connect(plan.target().address());
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
                        () -> connect(loop, lane, new CompletableFuture<>(), true),
                        Lane.PAUSE_NANOS,
                        TimeUnit.NANOSECONDS);
              }
            });
  }

  @Override
  public void close() {
    closed = true;
    group
        .shutdownGracefully(0, CLOSE_MILLIS, TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(CLOSE_MILLIS);
  }

  private final class Pipeline extends ChannelInitializer<Channel> {
    private final Lane lane;
    private final CompletableFuture<Void> ready;

    Pipeline(Lane lane, CompletableFuture<Void> ready) {
      this.lane = lane;
      this.ready = ready;
    }

    @Override
    protected void initChannel(Channel channel) {
      ChannelPipeline pipeline = channel.pipeline();
      if (tls != null) {
        pipeline.addLast(
            tls.newHandler(
                channel.alloc(), plan.target().host(), plan.target().address().getPort()));
      }
      switch (plan.door()) {
        case HTTP, JSON ->
            pipeline.addLast(new HttpResponseDecoder(), new HttpClientHandler(plan, lane, ready));
        default -> pipeline.addLast(new RespReader(), new RespClientHandler(plan, lane, ready));
      }
    }
  }
}
