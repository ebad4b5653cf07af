package dev.weir.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.weir.admin.Role;
import dev.weir.cli.AdminServer;
import dev.weir.cli.Ran;
import dev.weir.server.ServerOptions;
import dev.weir.server.WeirServer;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * A test of how commands find the administration interface, and of their messages if they do not.
 */
class AdminFlagsTest {
  @TempDir private Path folder;
  private AdminServer server;
  private String token = "";

  @BeforeEach
  void start() throws IOException {
    server = new AdminServer(folder);
    token = Files.readString(server.tokenFile(Role.OPERATOR)).strip();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Ran log(String url, String... more) {
    String[] all = Arrays.copyOf(new String[] {"rules", "log", "--server", url}, 4 + more.length);
    System.arraycopy(more, 0, all, 4, more.length);
    return Ran.weir(all);
  }

  private Ran log(String url) {
    return log(url, "--token-file", server.tokenFile(Role.OPERATOR).toString(), "--timeout", "60");
  }

  private static void assertFails(Ran ran, int status, String... words) {
    assertThat(ran.status()).as(ran.err()).isEqualTo(status);
    assertThat(ran.err()).startsWith("weir: ").contains(words);
    assertThat(ran.out()).isEmpty();
  }

  @Command
  private static final class Flags implements Runnable {
    @Mixin private final AdminFlags flags = new AdminFlags();

    @Override
    public void run() {}
  }

  private static AdminClient client(Map<String, String> environment, String... arguments) {
    Flags flags = new Flags();
    CommandLine line = new CommandLine(flags);
    line.parseArgs(arguments);
    return flags.flags.client(environment);
  }

  @Test
  void serverAndToken_comeFromTheEnvironment() throws Exception {
    AdminClient client =
        client(
            Map.of(
                AdminFlags.SERVER_VARIABLE, server.url() + "/",
                AdminFlags.TOKEN_VARIABLE, token + "\n"));
    assertThat(client.get("/rules").json().number("revision")).isZero();
    assertThat(server.requests()).containsExactly("GET /admin/v1/rules");
  }

  @Test
  void flags_goBeforeTheEnvironment() throws Exception {
    Map<String, String> wrong =
        Map.of(
            AdminFlags.SERVER_VARIABLE, "http://127.0.0.1:1", AdminFlags.TOKEN_VARIABLE, "wrong");
    AdminClient client =
        client(
            wrong,
            "--server",
            server.url(),
            "--token-file",
            server.tokenFile(Role.VIEWER).toString());
    assertThat(client.get("/rules").json().number("revision")).isZero();
  }

  @Test
  void tokenOnTheCommandLine_isWarnedOf() {
    Ran ran = log(server.url(), "--token", token);
    assertThat(ran.status()).isZero();
    assertThat(ran.err())
        .startsWith("weir: --token: users of this machine can read it in the list of processes")
        .doesNotContain(token);
  }

  @Test
  void tokenWithoutEncryption_isWarnedOf() {
    Flags flags = new Flags();
    StringWriter err = new StringWriter();
    CommandLine line = new CommandLine(flags).setErr(new PrintWriter(err));
    line.parseArgs("--server", "http://192.0.2.1:8090");
    assertThat(flags.flags.client(Map.of(AdminFlags.TOKEN_VARIABLE, token)).timeoutSeconds())
        .isEqualTo(30);
    line.getErr().flush();
    assertThat(err.toString())
        .contains("http://192.0.2.1:8090: the token is sent without encryption (expected: https");
  }

  @Test
  void tokenThatIsMissingOrWrong_isSaid() throws Exception {
    Path other = Files.writeString(folder.resolve("other"), token.replace("weir_", "weir-"));
    assertFails(
        log(server.url(), "--token-file", other.toString()),
        3,
        "weir: --token-file: "
            + other
            + ": not accepted by the server (expected: a token of 'weir tokens create' that has neither expired nor been revoked)");
    Ran given = log(server.url(), "--token", "other");
    assertThat(given.err()).contains("weir: --token: not accepted by the server (expected: a ");
    assertThat(given.err().split("expected: a token", -1)).as("said once").hasSize(2);
    assertFails(
        log(server.url(), "--token", "ü"), 2, "--token: cannot be sent in a header (expected: ");
    assertFails(log(server.url(), "--token", "x", "--token-file", "y"), 2, "--token: given with");
    assertFails(log(server.url(), "--token-file", "nowhere"), 2, "nowhere cannot be read");
    assertThat(server.requests()).hasSize(2);
    Ran none = Ran.weir("rules", "log", "--server", server.url());
    if (System.getenv(AdminFlags.TOKEN_VARIABLE) == null) {
      assertFails(
          none,
          2,
          "token: none (expected: --token-file FILE, or the environment variable"
              + " WEIR_ADMIN_TOKEN; 'weir tokens create' makes one)");
    }
  }

  @Test
  void serverThatIsAway_isSaid() throws Exception {
    int port = Ports.free();
    assertFails(
        log("http://127.0.0.1:" + port),
        3,
        "http://127.0.0.1:" + port + ": ",
        "(expected: a running 'weir serve' with --admin-port)");
  }

  @Test
  void serverThatDoesNotAnswer_isSaid() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertFails(
          log(
              "http://127.0.0.1:" + silent.getLocalPort(),
              "--timeout",
              "1",
              "--token-file",
              server.tokenFile(Role.VIEWER).toString()),
          3,
          "no answer within 1 s");
    }
  }

  @Test
  void portForDecisions_isNoAdministrationInterface() throws Exception {
    try (WeirServer weir =
        WeirServer.start(
            ServerOptions.of(
                Map.of(
                    "port", "0",
                    "grpc-port", "0",
                    "resp-port", "off",
                    "no-warmup", "true",
                    "max-wait", "1h")))) {
      assertFails(
          log("http://127.0.0.1:" + weir.httpPort()),
          3,
          "answered 404",
          "this is no administration interface (expected: --server with the --admin-port");
    }
  }

  @Test
  void otherServers_areNoAdministrationInterface() throws Exception {
    HttpServer other =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    try {
      other.createContext(
          "/",
          exchange -> {
            byte[] page = "<html>\u001b[2Jhello".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
          });
      other.start();
      Ran ran = log("http://127.0.0.1:" + other.getAddress().getPort());
      assertFails(ran, 3, "the answer cannot be read", "(expected: a 'weir serve'");
      assertThat(ran.err()).doesNotContain("\u001b");
    } finally {
      other.stop(0);
    }
  }

  @Test
  void addressThatIsNone_isWrongUsage() {
    assertFails(log("http://localhost:8090//h"), 2, "--server: http://localhost:8090//h (expected");
    assertFails(log("localhost:8090"), 2, "--server: localhost:8090 (expected: http://host:port");
    Ran password = log("http://a:secret@h", "--token", "x");
    assertFails(password, 2, "--server:", "(expected: http://host:port");
    assertThat(password.err()).doesNotContain("secret");
    assertFails(
        log(server.url(), "--tls-ca", "ca.pem", "--token", "x"),
        2,
        "--server: " + server.url() + " (expected: https://host:port, with --tls-ca)");
    assertFails(log(server.url(), "--timeout", "0", "--token", "x"), 2, "--timeout: 0 (expected:");
  }

  @Test
  void path_ofAProxy_isKept() {
    Ran ran = log(server.url() + "/weir/", "--token", token);
    assertThat(ran.status()).isEqualTo(3);
    assertThat(server.requests().get(0)).isEqualTo("GET /weir/admin/v1/rules/revisions");
  }

  @Test
  void command_isKnownInTheAudit() {
    assertThat(server.weir("tokens", "create", "--name", "a", "--role", "viewer").status())
        .isZero();
    long last = server.store.head().position();
    assertThat(server.store.changes(last - 1, 1).get(0).details().cause().via()).isEqualTo("cli");
  }
}
