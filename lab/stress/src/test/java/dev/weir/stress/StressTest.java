package dev.weir.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.Trials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A runner of every jcstress test of this module, in separate processes. A longer run: {@code
 * -Dweir.stress.iterations=100}.
 */
@Tag("model")
class StressTest {
  private static final int ITERATIONS = Integer.getInteger("weir.stress.iterations", 3);
  private static final Duration LONGEST = Duration.ofHours(4);

  @Test
  void nothingForbiddenIsSeen() throws IOException, InterruptedException {
    Path folder = Files.createDirectories(Path.of("target", "jcstress").toAbsolutePath());
    String said =
        ChildProcess.java(
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
                "-strideSize", // Stores made at once must fit the heap.
                "32",
                "-strideCount",
                "32",
                "-jvmArgs",
                "-Xmx512m",
                "-r",
                folder.resolve("report").toString())
            .folder(folder)
            .log(folder.resolve("output.txt"))
            .patience(LONGEST)
            .run();
    Matcher passed = Pattern.compile("; (\\d+) passed, ").matcher(said);
    int forks = 0;
    while (passed.find()) {
      forks = Integer.parseInt(passed.group(1)); // The last line has the total.
    }
    Trials.unseeded("jcstress", forks * ITERATIONS);
    assertThat(said).contains("17 matching test results").doesNotContain("FAILED", "[ERROR]");
  }
}
