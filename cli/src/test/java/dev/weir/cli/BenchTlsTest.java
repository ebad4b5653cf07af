package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import dev.weir.wire.testkit.Pem;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.TlsServerCredentials;
import io.grpc.stub.StreamObserver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A test of load over each protocol behind TLS, with a token that must arrive; servers are stubs.
 */
class BenchTlsTest {
  private static final String TOKEN = "s3cret";

  @TempDir private static Path folder;
  private static Pem pem;

  private final Set<String> shown = ConcurrentHashMap.newKeySet();

  @BeforeAll
  static void makeCertificates() throws Exception {
    pem = Pem.make(folder, "server");
    Pem.make(folder, "stranger");
    Files.writeString(folder.resolve("token"), TOKEN + "\n");
  }

  @BeforeEach
  void forget() {
    shown.clear();
  }

  private static Ran bench(String door, int port, String ca) {
    return Ran.weir(
        "bench",
        "--door",
        door,
        "--target",
        "127.0.0.1:" + port,
        "--connections",
        "2",
        "--duration",
        "200ms",
        "--warmup",
        "0s",
        "--json",
        "-",
        "--token-file",
        folder.resolve("token").toString(),
        "--tls-ca",
        folder.resolve(ca).toString());
  }

  /** Sends load with the right certificate and with a wrong one. */
  private void checkDoor(String door, int port, String token) {
    Ran ran = bench(door, port, "server.crt");
    assertThat(ran.status()).as(ran.err()).isZero();
    assertThat(BenchJson.of(ran.out()).number("allowed")).isPositive();
    assertThat(BenchJson.of(ran.out()).number("errors")).as(ran.out()).isZero();
    assertThat(shown).containsExactly(token);

    Ran distrusting = bench(door, port, "stranger.crt");
    assertThat(distrusting.status()).isEqualTo(3);
    assertThat(distrusting.err())
        .startsWith("weir: 127.0.0.1:" + port)
        .containsIgnoringCase("certif");
    assertThat(distrusting.err().lines()).hasSize(1);
  }

  @Test
  void resp() throws Exception {
    try (RespStub stub =
        RespStub.start(
            pem.shown().getServerSocketFactory(),
            (self, command) -> {
              if (command.get(0).equals("AUTH")) {
                shown.add(command.get(1));
                return "+OK\r\n";
              }
              return RespStub.array(0, 10, 9, -1, 1);
            })) {
      checkDoor("resp", stub.port(), TOKEN);
    }
  }

  @Test
  void http() throws Exception {
    HttpsServer server =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(pem.shown()));
    server.createContext(
        "/v1/check",
        exchange -> {
          shown.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    // Without its own threads the server shakes hands with one client at a time.
    ExecutorService threads = Executors.newCachedThreadPool();
    server.setExecutor(threads);
    server.start();
    try {
      checkDoor("http", server.getAddress().getPort(), "Bearer " + TOKEN);
    } finally {
      server.stop(0);
      threads.shutdownNow();
    }
  }

  @Test
  void grpc() throws Exception {
    Server server =
        Grpc.newServerBuilderForPort(
                0,
                TlsServerCredentials.newBuilder()
                    .keyManager(pem.certificate().toFile(), pem.key().toFile())
                    .build())
            .directExecutor()
            .addService(new AllowAll())
            .intercept(new Shown())
            .build()
            .start();
    try {
      checkDoor("grpc", server.getPort(), "Bearer " + TOKEN);
    } finally {
      server.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
    }
  }

  private static final class AllowAll extends RateLimitServiceGrpc.RateLimitServiceImplBase {
    @Override
    public void shouldRateLimit(
        RateLimitRequest request, StreamObserver<RateLimitResponse> observer) {
      observer.onNext(
          RateLimitResponse.newBuilder().setOverallCode(RateLimitResponse.Code.OK).build());
      observer.onCompleted();
    }
  }

  private final class Shown implements ServerInterceptor {
    @Override
    public <A, B> ServerCall.Listener<A> interceptCall(
        ServerCall<A, B> call, Metadata metadata, ServerCallHandler<A, B> next) {
      shown.add(
          String.valueOf(
              metadata.get(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER))));
      return next.startCall(call, metadata);
    }
  }
}
