package dev.weir.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * One thread that sends commands over Redis's protocol when they are due, whether or not earlier
 * ones are answered, and measures each from the instant at which it was due until its reply has
 * begun to arrive. It takes little of a processor that the servers need as well: what is due
 * together goes out in one write, on one connection after the other.
 */
final class OpenLoad implements AutoCloseable {
  /** How long the thread sleeps where nothing is due: so late a command may be sent, or read. */
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

  /** Far more than is answered in time: what is due beyond that waits, and its wait counts. */
  private static final int MOST_IN_FLIGHT = 1 << 18;

  private static final int BUFFER_BYTES = 1 << 18;
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final List<Connection> connections = new ArrayList<>();
  private final String admits;
  private int mostInFlight = MOST_IN_FLIGHT;

  /**
   * What was measured.
   *
   * @param late commands without a reply at the end
   * @param passes how often all connections were looked at, from the first command to the last
   * @param reads how often something was read meanwhile, of one connection
   * @param longestGapNanos the longest time without an admission
   * @param nanos latencies of all replies but errors
   */
  record Result(
      long due,
      long admitted,
      long refused,
      long errors,
      String firstError,
      long late,
      long passes,
      long reads,
      long longestGapNanos,
      double seconds,
      Histogram nanos) {
    double perSecond() {
      return (admitted + refused) / seconds;
    }

    double millis(double percentile) {
      return nanos.getValueAtPercentile(percentile) / 1e6;
    }
  }

  /**
   * Opens {@code each} connections to each port of this machine.
   *
   * @param admits the first line of what a reply says that admits
   */
  OpenLoad(List<Integer> ports, int each, String admits) throws IOException {
    this.admits = admits;
    for (int i = 0; i < each; i++) {
      for (int port : ports) {
        connections.add(new Connection(port));
      }
    }
  }

  private final class Connection {
    private final SocketChannel channel;
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final long[] due = new long[MOST_IN_FLIGHT];
    private int sent;
    private int answered;

    // Where in a reply the reading is: replies are arrays of numbers, single numbers, or errors.
    private int linesLeft;
    private boolean first;
    private final StringBuilder line = new StringBuilder();

    Connection(int port) throws IOException {
      channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.configureBlocking(false);
    }

    boolean room(int bytes) {
      return out.remaining() >= bytes && sent - answered < mostInFlight;
    }
  }

  /** A run's counts. */
  private static final class Tally {
    private final Histogram nanos = new Histogram(1, MOST_NANOS, 3);
    private long measuredFrom;
    private long due;
    private long admitted;
    private long refused;
    private long errors;
    private long passes;
    private long reads;
    private String firstError = "";
    private long lastAdmitted;
    private long longestGap;
    private @Nullable Tally part;

    Result result(long late, double seconds) {
      return new Result(
          due,
          admitted,
          refused,
          errors,
          firstError,
          late,
          passes,
          reads,
          longestGap,
          seconds,
          nanos);
    }

    void clear() {
      nanos.reset();
      due = 0;
      admitted = 0;
      refused = 0;
      errors = 0;
      longestGap = 0;
    }

    void reply(long dueNanos, long now, String line, boolean admits) {
      if (dueNanos < measuredFrom) {
        return;
      }
      if (part != null) {
        part.reply(dueNanos, now, line, admits);
      }
      if (line.startsWith("-")) {
        errors++;
        firstError = firstError.isEmpty() ? line : firstError;
        return;
      }
      nanos.recordValue(Math.max(1, Math.min(MOST_NANOS, now - dueNanos)));
      if (admits) {
        admitted++;
        longestGap = Math.max(longestGap, now - lastAdmitted);
        lastAdmitted = now;
      } else {
        refused++;
      }
    }
  }

  /**
   * Sends at a fixed rate for a time, and does not measure the first part of it.
   *
   * @param command the bytes of the command with this number
   */
  Result run(double perSecond, double warmUpSeconds, double seconds, LongFunction<byte[]> command)
      throws IOException {
    return run(perSecond, warmUpSeconds, seconds, command, Double.POSITIVE_INFINITY, step -> {});
  }

  /**
   * Does the same.
   *
   * @param step is handed what was measured since it was handed the last, each so many seconds
   */
  Result run(
      double perSecond,
      double warmUpSeconds,
      double seconds,
      LongFunction<byte[]> command,
      double stepSeconds,
      Consumer<Result> step)
      throws IOException {
    mostInFlight = MOST_IN_FLIGHT;
    return send(perSecond, warmUpSeconds, seconds, command, stepSeconds, step);
  }

  /**
   * Sends as fast as it is answered, with a fixed number of commands on their way. Each is due when
   * it is sent.
   */
  Result flatOut(int inFlight, double warmUpSeconds, double seconds, LongFunction<byte[]> command)
      throws IOException {
    mostInFlight = Math.max(1, inFlight / connections.size());
    return send(
        Double.POSITIVE_INFINITY,
        warmUpSeconds,
        seconds,
        command,
        Double.POSITIVE_INFINITY,
        step -> {});
  }

  private Result send(
      double perSecond,
      double warmUpSeconds,
      double seconds,
      LongFunction<byte[]> command,
      double stepSeconds,
      Consumer<Result> step)
      throws IOException {
    Tally tally = new Tally();
    long start = System.nanoTime();
    tally.measuredFrom = start + (long) (warmUpSeconds * 1e9);
    tally.lastAdmitted = tally.measuredFrom;
    long end = tally.measuredFrom + (long) (seconds * 1e9);
    long number = 0;
    int turn = 0;
    long now = start;
    Tally part = new Tally();
    part.measuredFrom = tally.measuredFrom;
    part.lastAdmitted = tally.measuredFrom;
    double stepEnd = tally.measuredFrom + stepSeconds * 1e9;
    tally.part = Double.isInfinite(stepSeconds) ? null : part;
    while (now < end) {
      if (now >= stepEnd) {
        step.accept(part.result(0, stepSeconds));
        part.clear();
        stepEnd += stepSeconds * 1e9;
      }
      Connection to = connections.get(turn++ % connections.size());
      long due = due(start, now, number, perSecond);
      while (due <= now && due < end) {
        byte[] bytes = command.apply(number);
        if (!to.room(bytes.length)) {
          break;
        }
        to.out.put(bytes);
        to.due[to.sent++ & MOST_IN_FLIGHT - 1] = due;
        tally.due += due < tally.measuredFrom ? 0 : 1;
        number++;
        due = due(start, now, number, perSecond);
      }
      pass(tally);
      now = System.nanoTime();
      if (due - now > 0 || turn % connections.size() == 0) {
        LockSupport.parkNanos(PAUSE_NANOS);
        now = System.nanoTime();
      }
    }
    long drained = now + DRAIN_NANOS;
    while (now < drained && waiting() > 0) {
      pass(tally);
      LockSupport.parkNanos(PAUSE_NANOS);
      now = System.nanoTime();
    }
    return tally.result(waiting(), seconds);
  }

  private static long due(long start, long now, long number, double perSecond) {
    return Double.isInfinite(perSecond) ? now : start + (long) (number * 1e9 / perSecond);
  }

  private long waiting() {
    return connections.stream().mapToLong(each -> each.sent - each.answered).sum();
  }

  /** Writes and reads what can be without waiting. */
  private void pass(Tally tally) throws IOException {
    tally.passes++;
    for (Connection each : connections) {
      if (each.out.position() > 0) {
        each.out.flip();
        each.channel.write(each.out);
        each.out.compact();
      }
      while (each.sent != each.answered) {
        int read = each.channel.read(each.in);
        if (read < 0) {
          throw new IOException("the server has closed a connection");
        }
        if (read == 0) {
          break;
        }
        tally.reads++;
        each.in.flip();
        long now = System.nanoTime();
        while (each.in.hasRemaining()) {
          read(each, each.in.get(), now, tally);
        }
        each.in.clear();
      }
    }
  }

  private void read(Connection from, byte next, long now, Tally tally) {
    if (next != '\n') {
      if (next != '\r') {
        from.line.append((char) next);
      }
      return;
    }
    String line = from.line.toString();
    from.line.setLength(0);
    if (from.linesLeft == 0 && line.startsWith("*")) {
      from.linesLeft = Integer.parseInt(line.substring(1));
      from.first = true;
      return;
    }
    boolean begins = from.linesLeft == 0 || from.first;
    from.first = false;
    // A text has a line for its length before it.
    from.linesLeft = Math.max(0, from.linesLeft - (line.startsWith("$") ? 0 : 1));
    if (begins) {
      long due = from.due[from.answered++ & MOST_IN_FLIGHT - 1];
      tally.reply(due, now, line, line.equals(admits));
    }
  }

  /** Returns a command over Redis's protocol. */
  static byte[] command(String... words) {
    StringBuilder all = new StringBuilder("*").append(words.length).append("\r\n");
    for (String word : words) {
      all.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
    }
    return all.toString().getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public void close() throws IOException {
    for (Connection each : connections) {
      each.channel.close();
    }
  }
}
