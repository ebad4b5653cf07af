package dev.weir.grpc;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A server on a free port of this machine, and a channel to it. */
final class NettyServer implements AutoCloseable {
  final Shop shop = new Shop();
  final ManagedChannel channel;
  private final Server server;

  /**
   * @param interceptors the last one is called first
   */
  NettyServer(Map<String, ?> serviceConfig, ServerInterceptor... interceptors) throws IOException {
    server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(ServerInterceptors.intercept(shop.service(), interceptors))
            .build()
            .start();
    channel =
        NettyChannelBuilder.forAddress(server.getListenSockets().get(0))
            .usePlaintext()
            .defaultServiceConfig(serviceConfig)
            .build();
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.shutdownNow();
    try {
      if (!channel.awaitTermination(30, TimeUnit.SECONDS)
          || !server.awaitTermination(30, TimeUnit.SECONDS)) {
        throw new AssertionError("server: does not end");
      }
    } catch (InterruptedException e) {
      throw new AssertionError("server: interrupted", e);
    }
  }
}
