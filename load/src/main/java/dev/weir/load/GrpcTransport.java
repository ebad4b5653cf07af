package dev.weir.load;

import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.ConnectivityState;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoop;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** Connections that carry gRPC: a channel each, which connects again by itself. */
final class GrpcTransport implements Transport {
  private static final long CLOSE_MILLIS = 2_000;

  private final LoadPlan plan;
  private final ChannelCredentials credentials;
  private final MultiThreadIoEventLoopGroup group;
  private final List<EventLoop> loops = new ArrayList<>();
  private final List<ManagedChannel> channels = new CopyOnWriteArrayList<>();

  private GrpcTransport(LoadPlan plan, int loops, ChannelCredentials credentials) {
    this.plan = plan;
    this.credentials = credentials;
    this.group =
        new MultiThreadIoEventLoopGroup(
            loops, new DefaultThreadFactory("weir-bench", true), NioIoHandler.newFactory());
    for (int i = 0; i < loops; i++) {
      this.loops.add(group.next());
    }
  }

  /**
   * @throws IOException if the certificates cannot be used
   */
  static GrpcTransport create(LoadPlan plan, int loops) throws IOException {
    ChannelCredentials credentials =
        plan.tlsCa() == null
            ? InsecureChannelCredentials.create()
            : TlsChannelCredentials.newBuilder().trustManager(plan.tlsCa().toFile()).build();
    return new GrpcTransport(plan, loops, credentials);
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
    EventLoop own = loops.get(loop);
    ManagedChannel channel =
        NettyChannelBuilder.forAddress(plan.target().address(), credentials)
            .overrideAuthority(plan.target().authority())
            .eventLoopGroup(own)
            .channelType(NioSocketChannel.class)
            .directExecutor()
            .disableRetry()
            .build();
    channels.add(channel);
    CompletableFuture<Void> ready = new CompletableFuture<>();
    awaitReady(channel, ready);
    return ready.thenRunAsync(
        () -> lane.up(new GrpcClient(plan, lane, channel, own::inEventLoop)), own);
  }

  private static void awaitReady(ManagedChannel channel, CompletableFuture<Void> ready) {
    ConnectivityState state = channel.getState(true);
    switch (state) {
      case READY -> ready.complete(null);
      case TRANSIENT_FAILURE, SHUTDOWN -> askWhy(channel, ready);
      default -> channel.notifyWhenStateChanged(state, () -> awaitReady(channel, ready));
    }
  }

  /** A channel reports why it has no connection only to calls. This call is never sent. */
  private static void askWhy(ManagedChannel channel, CompletableFuture<Void> ready) {
    ClientCalls.asyncUnaryCall(
        channel.newCall(RateLimitServiceGrpc.getShouldRateLimitMethod(), CallOptions.DEFAULT),
        RateLimitRequest.getDefaultInstance(),
        new StreamObserver<RateLimitResponse>() {
          @Override
          public void onNext(RateLimitResponse response) {}

          @Override
          public void onCompleted() {
            ready.completeExceptionally(new IOException("no connection at first"));
          }

          @Override
          public void onError(Throwable cause) {
            Throwable root = cause;
            while (root.getCause() != null) {
              root = root.getCause();
            }
            ready.completeExceptionally(new IOException(root.getMessage(), cause));
          }
        });
  }

  @Override
  public void close() {
    channels.forEach(ManagedChannel::shutdownNow);
    group
        .shutdownGracefully(0, CLOSE_MILLIS, TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(CLOSE_MILLIS);
  }
}
