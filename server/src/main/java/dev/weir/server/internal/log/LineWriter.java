package dev.weir.server.internal.log;

import dev.weir.internal.DaemonThreads;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogRecord;

/**
 * A writer of the log's lines to an output that may block, such as standard error. Safe for use by
 * many threads.
 */
final class LineWriter {
  /*
   * Why not ConsoleHandler? It writes on the thread that logs. Standard error is often a pipe, and
   * if its reader stands still, the pipe is full after 64 KiB: then every thread that logs
   * waits for ever, event loops as well as the thread that drains the server. Here one thread
   * writes. A thread that logs waits until its line is written, as it would with ConsoleHandler,
   * so that the last lines of a process that ends are not lost; but it waits only PATIENCE. After
   * that the output counts as blocked: no thread waits until a line has got through. Lines are
   * kept meanwhile, up to a bound; further ones are left out, and their number is written.
   */

  /** The longest time that a thread waits for its line. */
  static final Duration PATIENCE = Duration.ofMillis(250);

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
  private final Queue<Line> waiting = new ArrayDeque<>();
  private int chars;
  private long leftOut;
  private volatile boolean blocked;

  /** Creates a writer, whose thread has the given name, and never ends. */
  LineWriter(String name) {
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
        write(getFormatter().format(event), output);
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  /** Writes a line, which ends with a line break, or leaves it out if too many wait. */
  void write(String text, Consumer<String> output) {
    Line line = new Line(text, output);
    synchronized (waiting) {
      if (chars > 0 && chars + text.length() > MOST_CHARS) {
        leftOut++;
        return;
      }
      waiting.add(line);
      chars += text.length();
      waiting.notifyAll();
    }
    try {
      if (!blocked && !line.written.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        blocked = true;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
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
    long missing;
    synchronized (waiting) {
      while (waiting.isEmpty()) {
        waiting.wait();
      }
      next = waiting.element();
      missing = waiting.size() == 1 ? leftOut : 0;
    }
    try {
      next.output.accept(next.text);
      if (missing > 0) { // They came after all lines that are kept.
        next.output.accept("log: " + missing + " lines left out while the output was blocked\n");
      }
    } catch (RuntimeException | Error e) {
      // There is no other place to write about it.
    }
    synchronized (waiting) {
      waiting.remove();
      chars -= next.text.length();
      leftOut -= missing;
    }
    blocked = false;
    next.written.countDown();
  }
}
