package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.server.settings.StartException;
import dev.weir.wire.testkit.Pem;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests with requests like those of an Envoy with certificates of its own. */
class GrpcTlsTest {
  @TempDir private static Path folder;
  private static Pem server;
  private static Pem client;
  private static Pem stranger;

  @BeforeAll
  static void makeCertificates() throws Exception {
    server = Pem.make(folder, "server");
    client = Pem.make(folder, "client");
    stranger = Pem.make(folder, "stranger");
  }

  private static RunningServer start(String... more) throws Exception {
    return RunningServer.start(
        Map.of(
            "grpc-tls-cert", server.certificate().toString(),
            "grpc-tls-key", server.key().toString()),
        more);
  }

  private static TlsChannelCredentials.Builder trusting() throws Exception {
    return TlsChannelCredentials.newBuilder().trustManager(server.certificate().toFile());
  }

  private static Code request(RunningServer running, ChannelCredentials credentials) {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress("127.0.0.1", running.server.grpcPort(), credentials)
            .build();
    try {
      return request(channel);
    } finally {
      channel.shutdownNow();
    }
  }

  private static Code request(ManagedChannel channel) {
    return RateLimitServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(30, TimeUnit.SECONDS)
        .shouldRateLimit(
            RateLimitRequest.newBuilder()
                .setDomain("demo")
                .addDescriptors(
                    RateLimitDescriptor.newBuilder()
                        .addEntries(
                            RateLimitDescriptor.Entry.newBuilder().setKey("user").setValue("a")))
                .build())
        .getOverallCode();
  }

  @Test
  void wholeCalls_leaveNothingUnfinished() throws Exception {
    try (RunningServer running = start()) {
      ManagedChannel channel =
          Grpc.newChannelBuilderForAddress(
                  "127.0.0.1", running.server.grpcPort(), trusting().build())
              .build();
      try {
        for (int i = 0; i < 100; i++) {
          assertThat(request(channel)).isNotNull();
          long pending = -1;
          for (int look = 0; look < 1_000 && pending != 0; look++) {
            // The answer may arrive before the end of its call.
            pending = running.metric("weir_pending_bytes");
          }
          assertThat(pending).isZero();
        }
      } finally {
        channel.shutdownNow();
      }
    }
  }

  @Test
  void withACertificate_theDoorSpeaksTls() throws Exception {
    try (RunningServer running = start()) {
      assertThat(request(running, trusting().build())).isEqualTo(Code.OK);
    }
  }

  @Test
  void withAClientCa_onlyItsClientsAreServed() throws Exception {
    try (RunningServer running = start("grpc-tls-client-ca", client.certificate().toString())) {
      assertThat(request(running, with(client))).isEqualTo(Code.OK);
      for (ChannelCredentials wrong :
          new ChannelCredentials[] {trusting().build(), with(stranger)}) {
        assertThatThrownBy(() -> request(running, wrong))
            .isInstanceOf(StatusRuntimeException.class)
            .hasMessageContaining("UNAVAILABLE");
      }
      assertThat(request(running, with(client))).isEqualTo(Code.OK);
    }
  }

  private static ChannelCredentials with(Pem own) throws Exception {
    return trusting().keyManager(own.certificate().toFile(), own.key().toFile()).build();
  }

  @Test
  void certificateThatIsNone_isNamed() {
    assertThatThrownBy(() -> start("grpc-tls-cert", server.key().toString()))
        .isInstanceOf(StartException.class)
        .hasMessageStartingWith("--grpc-tls-cert: cannot be used: certificate: ")
        .hasMessageEndingWith(" (expected: one in PEM)");
    assertThatThrownBy(() -> start("grpc-tls-key", server.certificate().toString()))
        .isInstanceOf(StartException.class)
        .hasMessageStartingWith("--grpc-tls-cert: cannot be used: key: ")
        .hasMessageEndingWith(" (expected: one in PEM, PKCS #8, no password)");
  }
}
