package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** As an Envoy with certificates of its own asks. */
class GrpcTlsTest {
  private static final String PASSWORD = "changeit";

  @TempDir private static Path folder;
  private static Pem server;
  private static Pem client;
  private static Pem stranger;

  private record Pem(Path certificate, Path key) {}

  @BeforeAll
  static void makeCertificates() throws Exception {
    server = pem("server");
    client = pem("client");
    stranger = pem("stranger");
  }

  /** Makes a self-signed certificate with the JDK's own tool. */
  private static Pem pem(String name) throws Exception {
    Path store = folder.resolve(name + ".p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                name,
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-dname",
                "CN=" + name,
                "-ext",
                "SAN=ip:127.0.0.1",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve(name + ".log").toFile())
            .start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return new Pem(
        write(name + ".crt", "CERTIFICATE", keys.getCertificate(name).getEncoded()),
        write(
            name + ".key", "PRIVATE KEY", keys.getKey(name, PASSWORD.toCharArray()).getEncoded()));
  }

  private static Path write(String file, String type, byte[] content) throws Exception {
    String text =
        "-----BEGIN "
            + type
            + "-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content)
            + "\n-----END "
            + type
            + "-----\n";
    return Files.writeString(folder.resolve(file), text, StandardCharsets.US_ASCII);
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

  private static Code ask(RunningServer running, ChannelCredentials credentials) {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress("127.0.0.1", running.server.grpcPort(), credentials)
            .build();
    try {
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
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void withACertificate_theDoorSpeaksTls() throws Exception {
    try (RunningServer running = start()) {
      assertThat(ask(running, trusting().build())).isEqualTo(Code.OK);
    }
  }

  @Test
  void withAClientCa_onlyItsClientsAreServed() throws Exception {
    try (RunningServer running = start("grpc-tls-client-ca", client.certificate().toString())) {
      assertThat(ask(running, with(client))).isEqualTo(Code.OK);
      for (ChannelCredentials wrong :
          new ChannelCredentials[] {trusting().build(), with(stranger)}) {
        assertThatThrownBy(() -> ask(running, wrong))
            .isInstanceOf(StatusRuntimeException.class)
            .hasMessageContaining("UNAVAILABLE");
      }
      assertThat(ask(running, with(client))).isEqualTo(Code.OK);
    }
  }

  private static ChannelCredentials with(Pem own) throws Exception {
    return trusting().keyManager(own.certificate().toFile(), own.key().toFile()).build();
  }

  @Test
  void certificateThatIsNone_isNamed() {
    assertThatThrownBy(() -> start("grpc-tls-cert", server.key().toString()))
        .isInstanceOf(StartException.class)
        .hasMessageStartingWith("--grpc-tls-cert: cannot be used: ");
  }
}
