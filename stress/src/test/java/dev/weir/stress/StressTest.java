package dev.weir.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Runs every jcstress test of this module, in processes of their own. A longer run: {@code
 * -Dweir.stress.iterations=100}.
 */
class StressTest {
  private static final int ITERATIONS =
      Integer.getInteger("weir.stress.iterations", Trials.runs(1, 5));

  @Test
  void nothingForbiddenIsSeen() throws IOException, InterruptedException {
    Path folder = Files.createDirectories(Path.of("target", "jcstress").toAbsolutePath());
    Path output = folder.resolve("output.txt");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            "org.openjdk.jcstress.Main",
            "-t",
            "dev.weir.stress",
            "-f",
            "1",
            "-iters",
            Integer.toString(ITERATIONS),
            "-time",
            "200",
            "-sc",
            "false",
            "-strideSize", // What is made at once: whole stores, which have to fit the heap.
            "32",
            "-strideCount",
            "32",
            "-jvmArgs",
            "-Xmx512m",
            "-r",
            folder.resolve("report").toString());
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    int exit;
    try {
      exit = process.waitFor();
    } finally {
      process.destroyForcibly();
    }
    String said = Files.readString(output);
    Matcher passed = Pattern.compile("; (\\d+) passed, ").matcher(said);
    int forks = 0;
    while (passed.find()) {
      forks = Integer.parseInt(passed.group(1)); // The last line has them all.
    }
    Trials.unseeded("jcstress", forks * ITERATIONS);
    assertThat(exit).as(said).isZero();
    assertThat(said).contains("8 matching test results").doesNotContain("FAILED", "[ERROR]");
  }
}
