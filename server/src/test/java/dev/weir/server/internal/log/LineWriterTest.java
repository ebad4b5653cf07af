package dev.weir.server.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

class LineWriterTest {
  private final List<String> written = Collections.synchronizedList(new ArrayList<>());

  @Test
  void line_isWrittenWhenItsThreadGoesOn() {
    LineWriter writer = new LineWriter("test-lines").start();
    for (int i = 0; i < 1_000; i++) {
      writer.write(i + "\n", written::add);
      assertThat(written).hasSize(i + 1).last().isEqualTo(i + "\n");
    }
  }

  @Test
  void outputThatBlocks_keepsNoThread_andWhatIsKeptComesInOrder() throws InterruptedException {
    Semaphore reader = new Semaphore(0);
    CountDownLatch all = new CountDownLatch(1);
    LineWriter writer = new LineWriter("test-lines").start();
    Consumer<String> output =
        text -> {
          reader.acquireUninterruptibly();
          written.add(text);
          if (text.startsWith("log: ")) {
            all.countDown();
          }
        };
    String filling = "-".repeat(1_000) + "\n";
    int lines = 2 * LineWriter.MOST_CHARS / filling.length();
    writer.write("first\n", output); // This one alone waits.
    for (int i = 0; i < lines; i++) {
      writer.write(i + filling, output);
    }
    assertThat(written).isEmpty();
    reader.release(lines);
    all.await();
    int kept = written.size() - 2;
    assertThat(kept).isBetween(lines / 2 - 20, lines / 2);
    assertThat(written.get(0)).isEqualTo("first\n");
    for (int i = 0; i < kept; i++) {
      assertThat(written.get(i + 1)).startsWith(i + "-");
    }
    assertThat(written.get(kept + 1))
        .isEqualTo("log: " + (lines - kept) + " lines left out while the output was blocked\n");
    reader.release(10);
    writer.write("last\n", output);
    writer.write("and again\n", output);
    assertThat(written).endsWith("and again\n");
  }

  @Test
  void outputThatFails_losesItsLineAlone() {
    LineWriter writer = new LineWriter("test-lines").start();
    writer.write(
        "bad\n",
        text -> {
          throw new IllegalStateException();
        });
    writer.write("good\n", written::add);
    assertThat(written).containsExactly("good\n");
  }

  @Test
  void handler_writesWhatItsLevelLetsPass() {
    Formatter plain =
        new Formatter() {
          @Override
          public String format(LogRecord event) {
            return event.getMessage() + "\n";
          }
        };
    Handler handler = new LineWriter("test-lines").start().handler(plain, written::add);
    handler.setLevel(Level.INFO);
    handler.publish(new LogRecord(Level.FINE, "fine"));
    handler.publish(new LogRecord(Level.INFO, "info"));
    handler.publish(new LogRecord(Level.OFF, "off"));
    assertThat(written).containsExactly("info\n", "off\n");
  }
}
