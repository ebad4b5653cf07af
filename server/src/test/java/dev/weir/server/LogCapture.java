package dev.weir.server;

import static org.assertj.core.api.Assertions.fail;

import dev.weir.server.internal.log.Logs;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** A capture of the server's log. */
public final class LogCapture extends Handler implements AutoCloseable {
  private final SimpleFormatter format = new SimpleFormatter();
  private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();

  public LogCapture() {
    Logs.LOG.addHandler(this);
  }

  /** Captures the lines of the libraries as well. */
  public static LogCapture all() {
    LogCapture capture = new LogCapture();
    Logger.getLogger("").addHandler(capture);
    return capture;
  }

  /** Returns all lines that were written and not awaited. */
  public String text() {
    return String.join("\n", messages);
  }

  /** Waits for a line that contains a text, and returns it. */
  public String await(String text) throws InterruptedException {
    while (true) {
      String message = messages.poll(60, TimeUnit.SECONDS);
      if (message == null) {
        return fail("no log line with: " + text);
      }
      if (message.contains(text)) {
        return message;
      }
    }
  }

  /** Waits for the next line, whatever its text, and returns it. */
  public String next() throws InterruptedException {
    String message = messages.poll(60, TimeUnit.SECONDS);
    return message == null ? fail("no log line") : message;
  }

  @Override
  public void publish(LogRecord event) {
    messages.add(format.formatMessage(event));
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    Logs.LOG.removeHandler(this);
    Logger.getLogger("").removeHandler(this);
  }
}
