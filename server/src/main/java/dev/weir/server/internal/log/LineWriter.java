package dev.weir.server.internal.log;

import dev.weir.internal.DaemonThreads;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.logging.ErrorManager;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.jspecify.annotations.Nullable;

/**
 * A writer of the log's lines to an output that may block, such as standard error. Safe for use by
 * many threads.
 */
final class LineWriter {
  /*
   * Why not ConsoleHandler? It writes on the thread that logs. Standard error is often a pipe, and
   * if its reader stands still, the pipe is full after 64 KiB: then every thread that logs waits
   * for ever, event loops as well as the thread that drains the server. Here one thread writes. A
   * thread that logs waits until its line is written, as it would with ConsoleHandler, so that the
   * last lines of a process that ends are not lost; but it has a bounded patience. After that the
   * output counts as blocked, and no thread waits until all that is kept has got through. Lines are
   * kept up to a bound; further ones are left out, and a line with their number takes their place.
   */

  /** The most characters that wait to be written, unless a single line has more. */
  static final int MOST_CHARS = 1 << 20;

  private static final class Line {
    final String text;
    final Consumer<String> output;
    final CountDownLatch written = new CountDownLatch(1);

    Line(String text, Consumer<String> output) {
      this.text = text;
      this.output = output;
    }
  }

  private final Thread thread;
  private final long patienceMillis;

  // The lock of the queue guards the following fields.
  private final Queue<Line> waiting = new ArrayDeque<>();
  private int chars;
  private long leftOut;
  private @Nullable LineHandler leftOutOf;
  private boolean blocked;

  /**
   * Creates a writer, whose thread has the given name, and never ends.
   *
   * @param patience the longest time that a thread waits for its line; precise to a millisecond
   */
  LineWriter(String name, Duration patience) {
    patienceMillis = patience.toMillis();
    thread = DaemonThreads.create(name, this::run);
  }

  /** Starts the thread. To be called once. */
  LineWriter start() {
    thread.start();
    return this;
  }

  /** Returns a handler of the events of loggers, whose lines are written here to an output. */
  Handler handler(Formatter formatter, Consumer<String> output) {
    return new LineHandler(formatter, output);
  }

  /** Returns whether a handler writes here. */
  boolean owns(Handler handler) {
    return handler instanceof LineHandler own && own.writer() == this;
  }

  private final class LineHandler extends Handler {
    private final Consumer<String> output;

    LineHandler(Formatter formatter, Consumer<String> output) {
      this.output = output;
      setFormatter(formatter);
    }

    LineWriter writer() {
      return LineWriter.this;
    }

    @Override
    public void publish(LogRecord event) {
      if (isLoggable(event)) {
        String text = text(event);
        if (!text.isEmpty()) {
          write(text, this);
        }
      }
    }

    /** Returns the line of an event; empty if it has none, which is reported. */
    private String text(LogRecord event) {
      try {
        return getFormatter().format(event);
      } catch (RuntimeException e) {
        reportError(null, e, ErrorManager.FORMAT_FAILURE);
        return "";
      }
    }

    /** Returns the line in the place of those that were left out. */
    private String gap(long lines) {
      return text(
          new LogRecord(
              Level.WARNING, "log: the output was blocked, number of lines left out: " + lines));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  /** Writes a line, or leaves it out if too many wait. */
  private void write(String text, LineHandler handler) {
    Line line = new Line(text, handler.output);
    synchronized (waiting) {
      if (chars > 0 && chars + text.length() > MOST_CHARS) {
        leftOut++;
        leftOutOf = handler;
        return;
      }
      addGap();
      add(line);
      if (blocked) {
        return;
      }
    }
    try {
      if (!line.written.await(patienceMillis, TimeUnit.MILLISECONDS)) {
        synchronized (waiting) {
          blocked |= line.written.getCount() > 0;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void add(Line line) {
    waiting.add(line);
    chars += line.text.length();
    waiting.notifyAll();
  }

  /** Adds the line in the place of those that were left out, if there are any. */
  private void addGap() {
    LineHandler handler = leftOutOf;
    if (handler != null) {
      leftOutOf = null;
      add(new Line(handler.gap(leftOut), handler.output));
      leftOut = 0;
    }
  }

  private void run() {
    try {
      while (true) {
        writeNext();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void writeNext() throws InterruptedException {
    Line next;
    synchronized (waiting) {
      while (waiting.isEmpty()) {
        waiting.wait();
      }
      next = waiting.element();
    }
    try {
      next.output.accept(next.text);
    } catch (RuntimeException | Error e) {
      // There is no other place to write about it.
    }
    synchronized (waiting) {
      waiting.remove();
      chars -= next.text.length();
      if (waiting.isEmpty()) {
        blocked = false;
        addGap();
      }
      next.written.countDown();
    }
  }
}
