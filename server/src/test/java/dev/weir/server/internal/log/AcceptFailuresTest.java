package dev.weir.server.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.server.LogCapture;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** Tests of the lines made of Netty's warnings; a real process shows that the warnings come. */
class AcceptFailuresTest {
  private static final String LOGGER = "io.netty.channel.DefaultChannelPipeline";

  @Test
  void wantOfDescriptors_isSaidSeldomAndCounted_otherWarningsAreNotHeard() throws Exception {
    List<String> heard = new ArrayList<>();
    Handler others =
        new Handler() {
          @Override
          public void publish(LogRecord event) {
            heard.add(event.getMessage());
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    AcceptFailures.listen(Level.SEVERE, Ticker.system());
    for (String name : new String[] {LOGGER, "io.grpc.netty.shaded." + LOGGER}) {
      Logger logger = Logger.getLogger(name);
      long before = AcceptFailures.count();
      logger.addHandler(others);
      try (LogCapture log = new LogCapture()) {
        for (int i = 0; i < 1_000; i++) {
          IOException cause = new IOException("accept(..) failed: Too many open files");
          logger.log(Level.WARNING, "an exceptionCaught() event was fired", cause);
        }
        assertThat(AcceptFailures.count() - before).isEqualTo(1_000);
        logger.log(Level.WARNING, "something else", new IOException("Connection reset by peer"));
        logger.log(Level.SEVERE, "an error", new IOException("broken"));
        Logs.LOG.severe("end");
        int lines = 0;
        for (String line = log.next(); !line.equals("end"); line = log.next()) {
          assertThat(line)
              .startsWith(
                  "connections cannot be accepted: too many open files (expected:" + " fewer than ")
              .contains("ulimit -n", "--max-connections");
          lines++;
        }
        assertThat(lines).isBetween(0, 7);
      } finally {
        logger.removeHandler(others);
      }
    }
    assertThat(heard).containsExactly("an error", "an error");
  }
}
