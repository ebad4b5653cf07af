package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cli.command.StandardOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Output that cannot be written, as with {@code weir version > /dev/full}. */
class LostOutputTest {
  private static final String LOG = Path.of("..", "examples", "access.log").toString();
  private static final String RULES = Path.of("..", "examples", "rules.yaml").toString();

  private static final List<List<String>> COMMANDS =
      List.of(
          List.of("--version"),
          List.of("--help"),
          List.of("help", "lint"),
          List.of("version"),
          List.of("man"),
          List.of("completion", "bash"),
          List.of("completion", "fish"),
          List.of("lint", RULES),
          List.of("lint", "--format", "json", RULES),
          List.of("explain", "--rules", RULES, "--domain", "site", "--descriptor", "ip=192.0.2.1"),
          List.of("inspect", LOG),
          List.of(
              "replay",
              "--rules",
              RULES,
              "--input",
              LOG,
              "--domain",
              "site",
              "--descriptor",
              "ip={ip}"),
          List.of("compare", "--input", LOG, "--limit", "5/1m"),
          List.of("suggest", "--input", LOG));

  private static Ran toABrokenOutput(String reason, List<String> arguments) {
    StandardOutput out =
        new StandardOutput(
            new OutputStream() {
              @Override
              public void write(int each) throws IOException {
                throw new IOException(reason);
              }
            });
    StringWriter err = new StringWriter();
    PrintWriter to = new PrintWriter(err);
    int status = Main.run(arguments.toArray(new String[0]), out, to);
    to.flush();
    return new Ran(status, "", err.toString());
  }

  @Test
  void diskThatIsFull_endsEachCommandWithThree() {
    for (List<String> each : COMMANDS) {
      Ran ran = toABrokenOutput("No space left on device", each);
      assertThat(ran.status()).as("%s", each).isEqualTo(3);
      assertThat(ran.err())
          .as("%s", each)
          .endsWith(
              "weir: output: could not be written: no space left on the disk"
                  + " (expected: a standard output with room for all of it)\n");
    }
  }

  @Test
  void readerThatHasEnded_isNoFailure() {
    for (List<String> each : COMMANDS) {
      Ran ran = toABrokenOutput("Broken pipe", each);
      assertThat(ran.status()).as("%s", each).isZero();
      assertThat(ran.err()).as("%s", each).doesNotContain("output:");
    }
  }

  @Test
  void lostProblems_areAFailureAndNotTheirStatus(@TempDir Path folder) throws Exception {
    String broken =
        Files.writeString(folder.resolve("broken.yaml"), "domain: d\nunknown: 1\n").toString();
    assertThat(toABrokenOutput("No space left on device", List.of("lint", broken)).status())
        .isEqualTo(3);
    assertThat(toABrokenOutput("Broken pipe", List.of("lint", broken)).status()).isEqualTo(1);
  }
}
