package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.server.ServerOptions;
import dev.weir.server.WeirServer;
import dev.weir.wire.testkit.Pem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of {@code weir check} with servers that require tokens and use TLS. */
class CheckTlsTest {
  private static final String TOKEN = "token-of-sixteen-characters";

  @TempDir private static Path folder;
  private static WeirServer secured;
  private static WeirServer plain;

  @BeforeAll
  static void start() throws Exception {
    Pem.make(folder, "server");
    Pem.make(folder, "stranger");
    Files.writeString(folder.resolve("tokens"), "# ours\n\n" + TOKEN + "\nanother-token-as-long\n");
    Files.writeString(folder.resolve("wrong"), "not-the-token-you-want\n");
    Files.writeString(folder.resolve("none"), "# no token\n\n");
    secured =
        server(
            Map.of(
                "token-file", folder.resolve("tokens").toString(),
                "tls-cert", folder.resolve("server.crt").toString(),
                "tls-key", folder.resolve("server.key").toString()));
    plain = server(Map.of());
  }

  @AfterAll
  static void stop() {
    secured.close();
    plain.close();
  }

  private static WeirServer server(Map<String, String> more) throws Exception {
    Map<String, String> flags = new HashMap<>(more);
    flags.putAll(Map.of("port", "0", "grpc-port", "0", "resp-port", "off", "no-warmup", "true"));
    flags.putAll(Map.of("max-wait", "1h", "request-timeout", "1m"));
    return WeirServer.start(ServerOptions.of(flags));
  }

  private static Ran check(String url, String... more) {
    List<String> arguments = new ArrayList<>(List.of("check", "--domain", "demo"));
    arguments.addAll(List.of("--descriptor", "user=alice", "--permits", "0", "--url", url));
    arguments.addAll(List.of("--timeout", "60"));
    for (int i = 0; i < more.length; i += 2) {
      arguments.add(more[i]);
      arguments.add(folder.resolve(more[i + 1]).toString());
    }
    return Ran.weir(arguments.toArray(new String[0]));
  }

  private static String https() {
    return "https://127.0.0.1:" + secured.httpPort();
  }

  private static void assertFails(Ran ran, int status, String... words) {
    assertThat(ran.status()).as(ran.err()).isEqualTo(status);
    assertThat(ran.err()).contains(words).doesNotContain(TOKEN).doesNotContain("PKIX");
    assertThat(ran.out()).isEmpty();
  }

  @Test
  void firstTokenAndTheRightAuthority_areAnswered() {
    Ran ran = check(https(), "--token-file", "tokens", "--tls-ca", "server.crt");
    assertThat(ran.err()).isEmpty();
    assertThat(ran.status()).isZero();
    assertThat(ran.out()).startsWith("ALLOWED\n").contains("RateLimit: \"demo.user\";r=3\n");
  }

  @Test
  void tokenThatIsMissingOrWrong_isSaid() {
    assertFails(
        check(https(), "--tls-ca", "server.crt"),
        3,
        "the server requires a token (expected: --token-file FILE)");
    assertFails(
        check(https(), "--tls-ca", "server.crt", "--token-file", "wrong"),
        3,
        "the server does not accept this token");
    assertFails(
        check(https(), "--tls-ca", "server.crt", "--token-file", "none"),
        2,
        "--token-file: " + folder.resolve("none") + " has no token (expected: a file of tokens");
    assertFails(check(https(), "--token-file", "nowhere"), 2, "nowhere cannot be read");
  }

  @Test
  void certificateThatIsNotTrusted_isSaid_withTheWayOut() {
    assertFails(
        check(https(), "--token-file", "tokens", "--tls-ca", "stranger.crt"),
        3,
        "the server's certificate is not signed by any authority in "
            + folder.resolve("stranger.crt"),
        "--tls-ca FILE");
    assertFails(
        check(https(), "--token-file", "tokens"),
        3,
        "not signed by any authority of this machine (expected: --tls-ca FILE");
    assertFails(
        check("https://localhost:" + secured.httpPort(), "--tls-ca", "server.crt"),
        3,
        "the server's certificate is for another name",
        "localhost");
    assertFails(check(https(), "--tls-ca", "tokens"), 3, "--tls-ca: ", "certificates in PEM");
  }

  @Test
  void wrongScheme_isSaid_eitherWay() {
    assertFails(
        check("http://127.0.0.1:" + secured.httpPort()),
        3,
        "the port may speak TLS (expected: https:// in --url, or --tls-ca FILE)");
    assertFails(
        check("https://127.0.0.1:" + plain.httpPort()),
        3,
        "the port does not speak TLS (expected: http:// in --url");
    assertFails(
        check("http://127.0.0.1:" + secured.httpPort(), "--tls-ca", "server.crt"),
        2,
        "(expected: https://host:port, with --tls-ca)");
    assertFails(check("ftp://127.0.0.1"), 2, "--url: ftp://127.0.0.1 (expected: http://host:port");
    assertFails(
        check("127.0.0.1:8080"),
        2,
        "--url: 127.0.0.1:8080 (expected: http://host:port or https://host:port)");
    assertFails(check("http:///v1"), 2, "--url: http:///v1 (expected: http://host:port");
  }

  @Test
  void noRule_isSaid_andADomainThatIsUnknown() {
    String url = "http://127.0.0.1:" + plain.httpPort();
    Ran key = Ran.weir("check", "--url", url, "--domain", "demo", "--descriptor", "usr=alice");
    assertThat(key.status()).isZero();
    assertThat(key.out()).isEqualTo("ALLOWED (NO_LIMIT): No rule applies.\n");
    Ran domain = Ran.weir("check", "--url", url, "--domain", "dmo", "--descriptor", "user=alice");
    assertThat(domain.status()).isZero();
    assertThat(domain.out())
        .isEqualTo("ALLOWED (NO_LIMIT): No rule applies: there are no rules for the domain dmo.\n");
  }
}
