package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls whose values would be compared with wildcards millions of times. */
class HostileWildcardsTest {
  private static final String ERROR =
      "comparisons with wildcards: more than 2000000 in one call (expected: at most 2000000";

  @TempDir private Path folder;
  private RunningServer server;

  /** Starts a server with 8,192 patterns of the same parts, which an index cannot tell apart. */
  @BeforeEach
  void start() throws Exception {
    StringBuilder rules = new StringBuilder("domain: test\ndescriptors:\n");
    for (int i = 0; i < 1 << 13; i++) {
      rules.append("  - {key: path, value: \"");
      for (int bit = 0; bit < 13; bit++) {
        rules.append('*').append((i >> bit & 1) == 0 ? 'a' : 'c');
      }
      rules.append("*Z\"}\n");
    }
    rules.append("  - {key: path, rate_limit: {unit: hour, requests_per_unit: 1000}}\n");
    rules.append("  - {key: user, rate_limit: {unit: hour, requests_per_unit: 1000}}\n");
    Path file = Files.writeString(folder.resolve("rules.yaml"), rules);
    server = RunningServer.start(Map.of("rules", file.toString()));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** Returns a value that is compared with all patterns, to its end. */
  private static String value(int length) {
    return "ac" + "b".repeat(length) + "Z";
  }

  private static String answer(CompletableFuture<String> answer) throws Exception {
    try {
      return answer.get(30, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      return String.valueOf(e.getCause());
    }
  }

  @Test
  void valueThatIsComparedTooOften_isAnErrorOnEveryPort() throws Exception {
    try (EveryDoor doors = new EveryDoor(server.server)) {
      for (Map.Entry<String, CompletableFuture<String>> each :
          doors.request("path", value(4_000)).entrySet()) {
        assertThat(answer(each.getValue())).as(each.getKey()).contains(ERROR);
      }
      for (CompletableFuture<String> each : doors.request("path", "/users").values()) {
        assertThat(answer(each)).doesNotContain(ERROR);
      }
    }
    assertThat(server.check("path", value(4_000)).statusCode()).isEqualTo(400);
    assertThat(server.check("path", value(100)).statusCode()).isEqualTo(200);
  }

  @Test
  void batchThatIsComparedTooOften_isAnsweredUpToItsBound() throws Exception {
    String check = "{\"domain\":\"test\",\"descriptor\":{\"path\":\"" + value(500) + "\"}}";
    String last = "{\"domain\":\"test\",\"descriptor\":{\"user\":\"u\"}}";
    String body =
        "{\"checks\":[" + String.join(",", Collections.nCopies(30, check)) + "," + last + "]}";
    for (int call = 0; call < 2; call++) { // Each call has a bound of its own.
      String answer = server.post("/v1/check/batch", body).body();
      assertThat(answer.split("\"allowed\":true", -1)).hasSizeBetween(5, 12);
      assertThat(answer.split(ERROR.substring(0, 26), -1)).hasSizeGreaterThan(19);
    }
    assertThat(server.check("path", value(500)).statusCode()).isEqualTo(200);
  }

  @Test
  void leaseCallThatIsComparedTooOften_isAnsweredUpToItsBound() throws Exception {
    String ask =
        "{\"check\":{\"domain\":\"test\",\"descriptor\":{\"path\":\"" + value(500) + "\"}}}";
    String body = "{\"asks\":[" + String.join(",", Collections.nCopies(30, ask)) + "]}";
    String answer = server.post("/v1/lease", body).body();
    assertThat(answer.split("\"allowed\":true", -1)).hasSizeBetween(5, 12);
    assertThat(answer.split(ERROR.substring(0, 26), -1)).hasSizeGreaterThan(19);
    assertThat(server.check("path", value(500)).statusCode()).isEqualTo(200);
  }
}
