package dev.weir.stress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.Trials;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
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

  /** jcstress leaves out a test with more actors than processors, and says nothing of it. */
  private static final String LIST = "/META-INF/TestList";

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
    assertThat(said)
        .contains(tests() + " matching test results")
        .doesNotContain("FAILED", "[ERROR]");
  }

  /** Returns the number of tests in the list that jcstress makes when they are compiled. */
  private static int tests() throws IOException {
    try (InputStream list = Objects.requireNonNull(StressTest.class.getResourceAsStream(LIST))) {
      String text = new String(list.readAllBytes(), StandardCharsets.ISO_8859_1);
      return text.split("JCTEST", -1).length - 1;
    }
  }
}
