package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.wire.testkit.RespClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of real servers on one folder, some stopped in order and some not. */
class StateOverRestartsTest {
  @TempDir Path folder;

  private RunningServer start(Path state, String... more) throws Exception {
    String[] flags = new String[more.length + 2];
    flags[0] = "state-dir";
    flags[1] = state.toString();
    System.arraycopy(more, 0, flags, 2, more.length);
    return RunningServer.start(folder, flags);
  }

  private static int odd(RunningServer server) throws Exception {
    return server.check("odd", "x").statusCode();
  }

  private static String throttle(RunningServer server) {
    return throttle(server.server);
  }

  private static String throttle(WeirServer server) {
    try (RespClient client = new RespClient(server.respPort())) {
      return client.exchange("CL.THROTTLE", "key", "0", "1", "3600");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void countsOfRulesAndOfThrottle_outliveARestart() throws Exception {
    Path state = folder.resolve("state");
    try (RunningServer server = start(state)) {
      for (int i = 0; i < 5; i++) {
        assertThat(odd(server)).isEqualTo(200);
      }
      assertThat(throttle(server)).startsWith("*5|:0|");
    }
    for (int restart = 0; restart < 2; restart++) {
      try (RunningServer server = start(state)) {
        assertThat(odd(server)).isEqualTo(429);
        assertThat(throttle(server)).startsWith("*5|:1|");
        assertThat(server.check("odd", "y").statusCode()).isEqualTo(200);
      }
    }
    assertThat(state.resolve("running")).doesNotExist();
  }

  @Test
  void endWithoutSaving_deniesWhatIsNotKnown() throws Exception {
    Path state = folder.resolve("state");
    Path left = Files.createDirectory(folder.resolve("left"));
    try (RunningServer server = start(state)) {
      assertThat(odd(server)).isEqualTo(200);
      Files.copy(state.resolve("running"), left.resolve("running")); // The state after kill -9.
    }
    long begun = System.nanoTime();
    try (LogCapture log = new LogCapture();
        RunningServer server = start(left)) {
      assertThat(odd(server)).isEqualTo(429);
      HttpResponse<String> unknown = server.check("odd", "never seen");
      long passed = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun) + 1;
      assertThat(Long.parseLong(unknown.headers().firstValue("retry-after").orElseThrow()))
          .as("the rest of the window that began with the server, at most %d s ago", passed)
          .isBetween(90 - passed, 90L);
      assertThat(throttle(server)).startsWith("*5|:1|");
      assertThat(server.check("free", "x").statusCode()).isEqualTo(200);
      assertThat(log.text()).contains("the last run did not end in order");
    }
    Files.writeString(left.resolve("running"), "");
    try (RunningServer server = start(left, "state-after-crash", "amnesty")) {
      assertThat(odd(server)).isEqualTo(200);
    }
  }

  @Test
  void serverWhoseAnswersWait_decidesOverEveryProtocolAndKeepsItsCounts() throws Exception {
    Path state = folder.resolve("state");
    Path left = Files.createDirectory(folder.resolve("left"));
    try (RunningServer server = start(state, "state-durability", "machine")) {
      for (int i = 0; i < 5; i++) {
        assertThat(odd(server)).isEqualTo(200);
      }
      assertThat(odd(server)).isEqualTo(429);
      assertThat(throttle(server)).startsWith("*5|:0|");
      try (Stream<Path> files = Files.list(state)) {
        for (Path each : files.toList()) { // The state after kill -9.
          Files.copy(each, left.resolve(each.getFileName().toString()));
        }
      }
    }
    for (Path each : List.of(state, left)) {
      try (RunningServer server = start(each, "state-durability", "machine")) {
        assertThat(odd(server)).isEqualTo(429);
        assertThat(throttle(server)).startsWith("*5|:1|");
        assertThat(server.check("odd", "y").statusCode()).isEqualTo(200);
      }
    }
  }

  /** Ports are open before a server is ready, and answer: what a failed start admitted counts. */
  @Test
  void startThatFailsWithOpenPorts_keepsItsCounts() throws Exception {
    Path state = folder.resolve("state");
    assertThatThrownBy(
            () ->
                RunningServer.start(
                    folder,
                    begun -> {
                      String answer = throttle(begun);
                      while (answer.startsWith("-UNCERTAIN ")) { // The counts are being read.
                        answer = throttle(begun);
                      }
                      assertThat(answer).startsWith("*5|:0|");
                      throw new IllegalStateException("pretended");
                    },
                    "state-dir",
                    state.toString()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("pretended");
    assertThat(state.resolve("running")).doesNotExist();
    try (RunningServer server = start(state)) {
      assertThat(throttle(server)).startsWith("*5|:1|");
    }
  }
}
