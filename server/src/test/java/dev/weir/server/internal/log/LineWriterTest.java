package dev.weir.server.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.logging.ErrorManager;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

class LineWriterTest {
  private final List<String> written = Collections.synchronizedList(new ArrayList<>());

  /** A writer whose output does not count as blocked, however slow the machine is. */
  private final LineWriter writer = new LineWriter("test-lines", Duration.ofMinutes(1)).start();

  /** Creates a handler that leaves a blocked output alone after a moment. */
  private Handler hastyHandler(Consumer<String> output) {
    return handler(new LineWriter("test-lines", Duration.ofMillis(1)).start(), output);
  }

  private Handler handler(Consumer<String> output) {
    return handler(writer, output);
  }

  private static Handler handler(LineWriter writer, Consumer<String> output) {
    return writer.handler(
        new Formatter() {
          @Override
          public String format(LogRecord event) {
            return event.getMessage().strip() + "\n";
          }
        },
        output);
  }

  private static void log(Handler handler, String message) {
    handler.publish(new LogRecord(Level.INFO, message));
  }

  @Test
  void line_isWrittenWhenItsThreadGoesOn() {
    Handler handler = handler(written::add);
    for (int i = 0; i < 1_000; i++) {
      log(handler, "" + i);
      assertThat(written).hasSize(i + 1).last().isEqualTo(i + "\n");
    }
  }

  @Test
  void outputThatBlocks_keepsNoThread_andWhatIsKeptComesInOrder() throws InterruptedException {
    Semaphore reader = new Semaphore(0);
    CountDownLatch all = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    Handler handler =
        hastyHandler(
            text -> {
              reader.acquireUninterruptibly();
              written.add(text);
              if (text.startsWith("log: ")) {
                all.countDown();
              }
              if (text.equals("and again\n")) {
                end.countDown();
              }
            });
    String filling = "-".repeat(1_000);
    int lines = 2 * LineWriter.MOST_CHARS / filling.length();
    log(handler, "first"); // This one alone waits.
    for (int i = 0; i < lines; i++) {
      log(handler, i + filling);
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
        .isEqualTo(
            "log: the output was blocked, number of lines left out: " + (lines - kept) + "\n");
    reader.release(10);
    log(handler, "last");
    log(handler, "and again");
    end.await();
    assertThat(written).endsWith("and again\n");
  }

  @Test
  void linesLeftOut_haveTheirNumberInTheirPlace() throws InterruptedException {
    Semaphore reader = new Semaphore(0);
    Semaphore begun = new Semaphore(0);
    CountDownLatch end = new CountDownLatch(1);
    Handler handler =
        hastyHandler(
            text -> {
              begun.release();
              reader.acquireUninterruptibly();
              written.add(text);
              if (text.equals("last\n")) {
                end.countDown();
              }
            });
    log(handler, "-".repeat(LineWriter.MOST_CHARS - 100));
    log(handler, "x".repeat(90));
    log(handler, "y".repeat(90)); // There is no room.
    reader.release();
    begun.acquire(2); // The first line has left the queue.
    log(handler, "after");
    reader.release(10);
    log(handler, "last");
    end.await();
    assertThat(written.subList(1, 5))
        .containsExactly(
            "x".repeat(90) + "\n",
            "log: the output was blocked, number of lines left out: 1\n",
            "after\n",
            "last\n");
  }

  @Test
  void outputThatFails_losesItsLineAlone() {
    log(
        handler(
            text -> {
              throw new IllegalStateException();
            }),
        "bad");
    log(handler(written::add), "good");
    assertThat(written).containsExactly("good\n");
  }

  @Test
  void eventThatCannotBeFormatted_isReported_andItsThreadGoesOn() {
    List<Integer> codes = new ArrayList<>();
    Handler handler = handler(written::add);
    handler.setErrorManager(
        new ErrorManager() {
          @Override
          public synchronized void error(String message, Exception e, int code) {
            codes.add(code);
          }
        });
    handler.publish(new LogRecord(Level.SEVERE, null));
    log(handler, "good");
    assertThat(codes).containsExactly(ErrorManager.FORMAT_FAILURE);
    assertThat(written).containsExactly("good\n");
  }

  @Test
  void handler_writesWhatItsLevelLetsPass() {
    Handler handler = handler(written::add);
    handler.setLevel(Level.INFO);
    handler.publish(new LogRecord(Level.FINE, "fine"));
    handler.publish(new LogRecord(Level.INFO, "info"));
    handler.publish(new LogRecord(Level.OFF, "off"));
    assertThat(written).containsExactly("info\n", "off\n");
  }
}
