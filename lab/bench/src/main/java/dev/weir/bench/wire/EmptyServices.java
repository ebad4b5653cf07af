package dev.weir.bench.wire;

import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * The services with which Weir's protocols are compared: a gRPC service and an HTTP handler on the
 * same stacks that answer a constant, like a server without a limiter.
 */
final class EmptyServices {
  /** An answer as long as Weir's to the same request. */
  private static final Buffer ANSWER =
      Buffer.buffer(
          "{\"overallCode\":\"OK\",\"statuses\":[{\"code\":\"OK\",\"currentLimit\":{\"requestsPerUnit\":"
              + "4294967295,\"unit\":\"SECOND\"},\"limitRemaining\":4294967294,"
              + "\"durationUntilReset\":\"1s\"}]}");

  private EmptyServices() {}

  /** Prints the ports, gRPC first, and serves until it is killed. */
  public static void main(String[] arguments) throws Exception {
    Server grpc =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .directExecutor()
            .addService(new Constant())
            .build()
            .start();
    int loops = Runtime.getRuntime().availableProcessors();
    Vertx vertx =
        Vertx.vertx(new VertxOptions().setPreferNativeTransport(true).setEventLoopPoolSize(loops));
    HttpServer http =
        vertx
            .createHttpServer()
            .requestHandler(
                request ->
                    request
                        .response()
                        .putHeader("Content-Type", "application/json")
                        .end(ANSWER.copy()));
    http.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    System.out.println("ready " + grpc.getPort() + " " + http.actualPort());
    grpc.awaitTermination();
  }

  private static final class Constant extends RateLimitServiceGrpc.RateLimitServiceImplBase {
    private static final RateLimitResponse OK =
        RateLimitResponse.newBuilder().setOverallCode(RateLimitResponse.Code.OK).build();

    @Override
    public void shouldRateLimit(
        RateLimitRequest request, StreamObserver<RateLimitResponse> observer) {
      observer.onNext(OK);
      observer.onCompleted();
    }
  }
}
