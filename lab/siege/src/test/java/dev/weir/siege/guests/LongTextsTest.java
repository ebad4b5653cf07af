package dev.weir.siege.guests;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.siege.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of servers whose heap is smaller than the texts that they are sent to remember. */
@Tag("siege")
class LongTextsTest {
  private static final Duration ATTACK = Duration.ofSeconds(60);

  @TempDir private Path folder;
  private Path rules;

  @BeforeEach
  void rules() throws IOException {
    rules = Files.writeString(folder.resolve("rules.yaml"), LongTexts.RULES);
  }

  private ServerProcess start(String log, String heap, String... flags) throws IOException {
    ServerProcess.Launch how =
        new ServerProcess.Launch(List.of(), List.of(heap), Map.of(), "127.0.0.1");
    String[] all = new String[flags.length + 1];
    System.arraycopy(flags, 0, all, 0, flags.length);
    all[flags.length] = "--no-warmup";
    ServerProcess server = ServerProcess.launch(how, folder.resolve(log), null, all);
    try {
      server.awaitReady();
      return server;
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  private static void endures(ServerProcess server, LongTexts attack) throws IOException {
    Attack.Outcome outcome;
    try {
      outcome = attack.run(server.target(), ATTACK);
    } catch (IOException e) {
      throw new IOException(attack + ": " + server.log(), e);
    }
    System.out.printf("%s: %s%n  after: %s%n", attack, outcome, server.resources());
    assertThat(server.running()).as("running after %s%n%s", attack, server.log()).isTrue();
    assertThat(server.log()).doesNotContain("OutOfMemoryError");
  }

  @Test
  void bucketsOfEnvoys_leaveAServerItsHeap() throws Exception {
    try (ServerProcess server = start("log", "-Xmx64m", "--rules", rules.toString())) {
      endures(server, LongTexts.LENT_BUCKETS);
      endures(server, LongTexts.ABANDONED_BUCKETS);
      endures(server, LongTexts.FREE_BUCKETS);
    }
  }

  @Test
  void refusedKeys_leaveASidecarItsHeap() throws Exception {
    try (ServerProcess upstream = start("upstream", "-Xmx128m", "--rules", rules.toString());
        ServerProcess sidecar =
            start(
                "sidecar",
                "-Xmx64m",
                "--upstream",
                "weir://127.0.0.1:" + upstream.target().grpc(),
                "--upstream-timeout",
                "4s")) {
      endures(sidecar, LongTexts.REFUSED_KEYS);
      long before = upstream.metrics().value("weir_requests_total");
      endures(sidecar, LongTexts.REFUSED_KEYS);
      assertThat(sidecar.metrics().value("weir_client_refused_locally_total"))
          .as("refused once more without a call")
          .isGreaterThan(6_000);
      assertThat(upstream.metrics().value("weir_requests_total") - before).isLessThan(6_000);
    }
  }
}
