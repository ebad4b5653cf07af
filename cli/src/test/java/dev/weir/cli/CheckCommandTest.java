package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.server.ServerOptions;
import dev.weir.server.WeirServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

class CheckCommandTest {
  private static Ran check(int port, String... more) {
    String[] arguments = new String[9 + more.length];
    String[] fixed = {
      "check",
      "--url",
      "http://127.0.0.1:" + port,
      "--domain",
      "demo",
      "--descriptor",
      "user=alice",
      "--timeout",
      "60"
    };
    System.arraycopy(fixed, 0, arguments, 0, 9);
    System.arraycopy(more, 0, arguments, 9, more.length);
    return Ran.weir(arguments);
  }

  /** Either name, since one command's name used to be unknown to the other. */
  @Test
  void everyCommandToAServer_takesBothNamesOfItsAddress() {
    List<String> commands = new ArrayList<>();
    addNames(Main.commandLine(), commands);
    assertThat(commands)
        .contains("weir check", "weir cluster status", "weir rules push", "weir tokens list");
  }

  private static void addNames(CommandLine line, List<String> commands) {
    CommandSpec command = line.getCommandSpec();
    OptionSpec url = command.findOption("--url");
    OptionSpec server = command.findOption("--server");
    assertThat(url).as(command.qualifiedName()).isSameAs(server);
    if (url != null) {
      commands.add(command.qualifiedName());
    }
    line.getSubcommands().values().forEach(each -> addNames(each, commands));
  }

  @Test
  void check_askedUntilDenied_tellsByItsStatus() throws Exception {
    int port;
    try (WeirServer server =
        WeirServer.start(
            ServerOptions.of(
                Map.of(
                    "port", "0",
                    "grpc-port", "0",
                    "resp-port", "0",
                    "no-warmup", "true",
                    "max-wait", "1h")))) {
      port = server.httpPort();

      assertThat(check(port, "--permits", "0").status()).isZero();
      Ran allowed = check(port, "--permits", "3");
      Ran denied = check(port);
      Ran json = check(port, "--json");
      Ran other =
          Ran.weir(
              "check",
              "--server",
              "http://127.0.0.1:" + port,
              "--domain",
              "demo",
              "--descriptor",
              "user=bob",
              "--timeout",
              "60");
      assertThat(other.status()).isZero();

      assertThat(allowed.status()).isZero();
      assertThat(allowed.out()).startsWith("ALLOWED").contains("RateLimit: \"demo.user\";r=0");
      assertThat(denied.status()).isEqualTo(1);
      assertThat(denied.out()).startsWith("DENIED").contains("Retry-After: ");
      assertThat(json.status()).isEqualTo(1);
      assertThat(json.out()).contains("\"violated-policies\"");
    }

    Ran gone = check(port);
    assertThat(gone.status()).isEqualTo(3);
    assertThat(gone.err()).contains("127.0.0.1:" + port, "weir serve");
  }
}
