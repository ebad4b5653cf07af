package dev.weir.examples.grpc;

import dev.weir.examples.grpc.proto.GreeterGrpc;
import dev.weir.examples.grpc.proto.Greeting;
import dev.weir.grpc.RateLimitClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A client with one of three reactions to refusals. */
final class GreeterClient implements AutoCloseable {
  /**
   * The retries of gRPC itself: a refused call is sent again, at the time that the server states.
   */
  private static final Map<String, Object> RETRIES =
      Map.of(
          "methodConfig",
          List.of(
              Map.of(
                  "name",
                  List.of(Map.of("service", GreeterGrpc.SERVICE_NAME)),
                  "retryPolicy",
                  Map.of(
                      "maxAttempts",
                      5.0,
                      "initialBackoff",
                      "0.1s",
                      "maxBackoff",
                      "1s",
                      "backoffMultiplier",
                      2.0,
                      "retryableStatusCodes",
                      List.of("RESOURCE_EXHAUSTED")))));

  private final ManagedChannel channel;

  private GreeterClient(ManagedChannel channel) {
    this.channel = channel;
  }

  /** Returns a client that sends every call, and fails if the server refuses. */
  static GreeterClient plain(int port) {
    return new GreeterClient(builder(port).build());
  }

  /**
   * Returns a client that heeds refusals: it keeps its calls until the time that the server has
   * stated, and sends them then.
   */
  static GreeterClient patient(int port) {
    return new GreeterClient(
        builder(port)
            .intercept(RateLimitClientInterceptor.builder().maxWait(Duration.ofSeconds(10)).build())
            .build());
  }

  /** Returns a client that sends a refused call again. */
  static GreeterClient retrying(int port) {
    return new GreeterClient(builder(port).defaultServiceConfig(RETRIES).enableRetry().build());
  }

  private static NettyChannelBuilder builder(int port) {
    return NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext();
  }

  /**
   * Sends a call and waits for its end.
   *
   * @throws StatusRuntimeException if it is refused
   */
  String greet(String name) {
    return GreeterGrpc.newBlockingStub(channel)
        .greet(Greeting.newBuilder().setText(name).build())
        .getText();
  }

  @Override
  public void close() {
    channel.shutdownNow();
    try {
      channel.awaitTermination(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
