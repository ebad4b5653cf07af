package dev.weir.server.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.server.internal.settings.ServerSettings;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LogsTest {
  private final PrintStream before = System.err;

  @AfterEach
  void asBefore() {
    System.setErr(before);
    Logs.install(ServerSettings.defaults(), Ticker.system());
  }

  private static long lines(String level) {
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
    Logs.install(ServerSettings.of(Map.of("log-level", level)), Ticker.system());
    Logger library = Logger.getLogger("io.netty.some.Handler");
    for (int i = 0; i < 1_000; i++) {
      library.log(Level.SEVERE, "a client did something", new IllegalStateException());
    }
    return written
        .toString(StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.contains("a client did something"))
        .count();
  }

  @Test
  void whatLibrariesWriteAgainAndAgain_isWrittenAFewTimes_unlessEverythingIsWanted() {
    assertThat(lines("info")).isBetween(1L, 7L);
    assertThat(lines("debug")).isEqualTo(1_000);
  }
}
