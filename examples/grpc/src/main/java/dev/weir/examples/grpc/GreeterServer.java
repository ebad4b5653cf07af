package dev.weir.examples.grpc;

import dev.weir.engine.RunningEngine;
import dev.weir.examples.grpc.proto.GreeterGrpc;
import dev.weir.examples.grpc.proto.Greeting;
import dev.weir.grpc.RateLimitServerInterceptor;
import io.grpc.Server;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/** A server that greets, as often as the rules allow. */
final class GreeterServer implements AutoCloseable {
  private final RunningEngine engine;
  private final Server server;

  private GreeterServer(RunningEngine engine, Server server) {
    this.engine = engine;
    this.server = server;
  }

  /**
   * Starts the server on this machine's own address.
   *
   * @param port 0 for any free port
   * @param rules the file with the limits
   */
  static GreeterServer start(int port, Path rules) throws IOException {
    // Reads the rules, watches their file, and counts in this process.
    RunningEngine engine = RunningEngine.builder().rules(rules).start();
    // The descriptor of a call: its method and its client's address. The rules decide what it
    // means.
    ServerInterceptor limits =
        RateLimitServerInterceptor.builder(engine)
            .domain("greeter")
            .descriptor("method={method},ip={ip}")
            .build();
    GreeterServer greeter =
        new GreeterServer(
            engine,
            NettyServerBuilder.forAddress(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .addService(ServerInterceptors.intercept(new Greeter(), limits))
                .build());
    try {
      greeter.server.start();
      return greeter;
    } catch (IOException e) {
      greeter.close();
      throw e;
    }
  }

  int port() {
    return server.getPort();
  }

  /** Waits until the server is closed. */
  void join() throws InterruptedException {
    server.awaitTermination();
  }

  /** Ends the server, then the engine that its interceptor uses. */
  @Override
  public void close() {
    server.shutdownNow();
    engine.close();
  }

  private static final class Greeter extends GreeterGrpc.GreeterImplBase {
    @Override
    public void greet(Greeting request, StreamObserver<Greeting> response) {
      response.onNext(Greeting.newBuilder().setText("Hello " + request.getText()).build());
      response.onCompleted();
    }
  }
}
