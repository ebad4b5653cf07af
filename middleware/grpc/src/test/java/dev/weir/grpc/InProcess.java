package dev.weir.grpc;

import io.grpc.Channel;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A server and a channel to it in this process, where all work is done on the calling thread. */
final class InProcess implements AutoCloseable {
  final Shop shop = new Shop();
  final ManagedChannel channel;
  private final Server server;

  InProcess(ServerInterceptor... interceptors) throws IOException {
    String name = InProcessServerBuilder.generateName();
    // The last one is called first; in the list of the test, the first is.
    List<ServerInterceptor> order = new ArrayList<>(Arrays.asList(interceptors));
    java.util.Collections.reverse(order);
    server =
        InProcessServerBuilder.forName(name)
            .directExecutor()
            .addService(ServerInterceptors.intercept(shop.service(), order))
            .addService(
                ServerInterceptors.intercept(shop.service("grpc.health.v1.Health", "Check"), order))
            .build()
            .start();
    channel = InProcessChannelBuilder.forName(name).directExecutor().build();
  }

  Channel with(ClientInterceptor interceptor) {
    return ClientInterceptors.intercept(channel, interceptor);
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.shutdownNow();
  }
}
