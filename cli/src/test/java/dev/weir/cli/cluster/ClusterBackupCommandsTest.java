package dev.weir.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.weir.cli.Ran;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of the messages of {@code weir cluster backup} and {@code restore} when they fail. */
class ClusterBackupCommandsTest {
  @TempDir private Path folder;
  private int code;
  private String body = "";
  private String type = "";
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/cluster/backup",
        exchange -> {
          type = String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type"));
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(code, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private Ran backup() {
    return Ran.weir(
        "cluster",
        "backup",
        "--url",
        "http://127.0.0.1:" + server.getAddress().getPort(),
        "--to",
        folder.resolve("file").toString());
  }

  private Ran restore(String address, String... more) {
    String[] arguments = {
      "cluster",
      "restore",
      "--from",
      folder.resolve("file").toString(),
      "--cluster-dir",
      folder.resolve("to").toString(),
      "--cluster-name",
      more.length == 0 ? "a" : more[0],
      "--cluster-advertise",
      address
    };
    return Ran.weir(arguments);
  }

  @Test
  void memberThatCannotAnswer_isSaid_andNoFileIsLeft() {
    code = 409;
    body = "{\"detail\":\"the cluster is not formed yet\"}";
    Ran ran = backup();
    assertThat(ran.status()).isNotZero();
    assertThat(ran.err()).contains("no backup was made: the cluster is not formed yet");
    assertThat(type).isEqualTo("application/octet-stream");
    code = 403;
    body = "{\"detail\":\"from 10.0.0.1 (expected: from this machine)\"}";
    assertThat(backup().err()).contains("from 10.0.0.1 (expected: from this machine)");
    code = 401;
    assertThat(backup().err()).contains("the server requires a token");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void fileThatIsNone_andFlagsThatAreWrong_areSaid_andNothingIsWritten() throws IOException {
    assertThat(restore("a.internal:7946").err()).contains("nothing was restored: ");
    Files.writeString(folder.resolve("file"), "no backup");
    assertThat(restore("a.internal:7946").err())
        .contains("no whole backup (expected: a file by 'weir cluster backup')");
    assertThat(restore("a.internal").err()).contains("--cluster-advertise: a.internal (expected: ");
    assertThat(restore("a.internal:70000").err()).contains("--cluster-advertise: a.internal:70000");
    assertThat(restore("a:1", "a b").err()).contains("--cluster-name: a b (expected: ");
    assertThat(folder.resolve("to")).doesNotExist();
  }
}
