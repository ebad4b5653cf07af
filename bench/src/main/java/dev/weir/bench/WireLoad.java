package dev.weir.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;

/**
 * A program that sends requests when they are due, whether or not earlier ones are answered, from
 * one thread that never sleeps: it needs a processor of its own.
 */
final class WireLoad {
  /*
   * How is WireLoad designed, and why? What it measures of others must not be its own. So it makes
   * hardly any garbage, and a request is bytes that are there already, of which six digits change. It looks
   * at the clock, sends what is due, reads what has arrived, and begins again. What is due at one
   * look goes out in one write if the protocol allows it, so that a look that comes late is followed
   * by a cheaper one.
   *
   * Of each request it measures three times. The first is what a client sees: from when the request
   * was due until it was answered. The second is the generator's part of it: from when it was due
   * until the generator noticed. The third is from when it was written. A request that is noticed
   * and cannot be written, because its connection has as many in flight as it may, waits for the
   * server and not for the generator.
   */

  private static final int SENT = 1 << 16;
  private static final int BUFFER_BYTES = 1 << 18;
  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final int KEYS = 100_000;

  /** The times of the requests of one second. */
  private record Times(Histogram answered, Histogram noticed, Histogram written) {
    Times() {
      this(histogram(), histogram(), histogram());
    }

    private static Histogram histogram() {
      return new Histogram(1, LONGEST_NANOS, 2);
    }

    void addTo(Times sum) {
      sum.answered.add(answered);
      sum.noticed.add(noticed);
      sum.written.add(written);
    }
  }

  /** A connection, with when each request that waits for its answer was due and was written. */
  final class Connection {
    final SocketChannel channel;
    final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
    final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final long[] due = new long[SENT];
    private final long[] written = new long[SENT];
    int sent;
    int answered;

    /** Answers of gRPC that have a message; the bytes for which the server has given room. */
    int decided;

    long granted;

    Connection(int port) throws IOException {
      channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    /** The request of this number on this connection, the first being 0, has its answer. */
    void answered(int number) {
      answered++;
      long from = due[number & SENT - 1];
      if (from >= measuredFrom) {
        second.answered.recordValue(Math.max(1, Math.min(LONGEST_NANOS, now - from)));
        second.written.recordValue(
            Math.max(1, Math.min(LONGEST_NANOS, now - written[number & SENT - 1])));
      }
    }

    private void send(long dueNanos) {
      due[sent & SENT - 1] = dueNanos;
      written[sent & SENT - 1] = now;
      protocol.request(this, key());
      sent++;
    }

    private void write() throws IOException {
      out.flip();
      channel.write(out);
      out.compact();
    }

    private void read() throws IOException {
      int read = channel.read(in);
      if (read < 0) {
        throw new IOException("the server has closed a connection");
      }
      if (read > 0) {
        now = System.nanoTime();
        in.flip();
        protocol.answers(this);
        in.compact();
      }
    }
  }

  private final WireProtocol protocol;
  private final int inFlight;
  private final Selector selector = Selector.open();
  private final List<Connection> connections = new ArrayList<>();
  private Times second = new Times();
  private long measuredFrom;
  private long now;
  private long random = 88172645463325252L;
  private int turn;

  private WireLoad(WireProtocol protocol, int port, int connections, int inFlight)
      throws IOException {
    this.protocol = protocol;
    this.inFlight = inFlight;
    for (int i = 0; i < connections; i++) {
      Connection connection = new Connection(port);
      protocol.begin(connection.out);
      connection.write();
      connection.channel.configureBlocking(false);
      connection.channel.register(selector, SelectionKey.OP_READ, connection);
      this.connections.add(connection);
    }
  }

  /**
   * Arguments: grpc, json or resp; the port; connections; most requests in flight on each; requests
   * due per second, 0 for as many as are answered; seconds to warm up, and to measure.
   *
   * <p>Prints a line for each second and one for all: requests answered per second, and in
   * milliseconds p50, p99, p99.9 and the longest time from when a request was due; p99 and the
   * longest until it was noticed; p99 from when it was written; and how many had no answer two
   * seconds after the end. An answer counts in the second in which it comes. Those that come after
   * the end count in the times of the last second, and not in what was answered per second.
   */
  public static void main(String[] arguments) throws IOException {
    WireLoad load =
        new WireLoad(
            WireProtocol.of(arguments[0]),
            Integer.parseInt(arguments[1]),
            Integer.parseInt(arguments[2]),
            Integer.parseInt(arguments[3]));
    load.run(
        Double.parseDouble(arguments[4]),
        Integer.parseInt(arguments[5]),
        Integer.parseInt(arguments[6]));
  }

  private void run(double perSecond, int warmUpSeconds, int seconds) throws IOException {
    List<Times> bySecond = new ArrayList<>();
    for (int i = 0; i < seconds; i++) {
      bySecond.add(new Times());
    }
    second = bySecond.get(0);
    int current = 0;
    double apart = perSecond == 0 ? 0 : 1e9 / perSecond;
    long start = System.nanoTime();
    measuredFrom = start + TimeUnit.SECONDS.toNanos(warmUpSeconds);
    long end = measuredFrom + TimeUnit.SECONDS.toNanos(seconds);
    long secondEnd = measuredFrom + TimeUnit.SECONDS.toNanos(1);
    long noticed = 0;
    long sent = 0;
    now = start;
    while (now < end) {
      if (now >= secondEnd) {
        second = bySecond.get(Math.min(++current, seconds - 1));
        secondEnd += TimeUnit.SECONDS.toNanos(1);
      }
      if (apart == 0) {
        refill();
      } else {
        long due = start + (long) (noticed * apart);
        while (due <= now) {
          if (due >= measuredFrom) {
            second.noticed.recordValue(Math.max(1, now - due));
          }
          noticed++;
          due = start + (long) (noticed * apart);
        }
        sent = send(start, apart, sent, noticed);
      }
      read();
      now = System.nanoTime();
    }
    long[] inTime = bySecond.stream().mapToLong(each -> each.answered.getTotalCount()).toArray();
    long drained = now + DRAIN_NANOS;
    while (now < drained && waiting() + noticed - sent > 0) {
      sent = apart == 0 ? sent : send(start, apart, sent, noticed);
      read();
      now = System.nanoTime();
    }
    Times all = new Times();
    for (int i = 0; i < seconds; i++) {
      print(Integer.toString(i + 1), bySecond.get(i), (double) inTime[i], 0);
      bySecond.get(i).addTo(all);
    }
    print("all", all, (double) LongStream.of(inTime).sum() / seconds, waiting() + noticed - sent);
  }

  /** Writes what is due; as much of it as has room to one connection; returns what is sent then. */
  private long send(long start, double apart, long sent, long noticed) throws IOException {
    long next = sent;
    for (int tried = 0; tried < connections.size() && next < noticed; tried++) {
      Connection to = connections.get(turn);
      turn = turn + 1 < connections.size() ? turn + 1 : 0;
      long before = next;
      while (next < noticed && room(to)) {
        to.send(start + (long) (next * apart));
        next++;
      }
      if (next > before) {
        to.write();
      }
    }
    return next;
  }

  /** Has each connection have as many requests in flight as it may. */
  private void refill() throws IOException {
    for (Connection to : connections) {
      int before = to.sent;
      while (room(to)) {
        to.send(now);
      }
      if (to.sent > before) {
        to.write();
      }
    }
  }

  private boolean room(Connection to) {
    return to.sent - to.answered < inFlight
        && to.out.remaining() >= WireProtocol.MOST_BYTES
        && protocol.room(to);
  }

  private void read() throws IOException {
    if (selector.selectNow() > 0) {
      for (SelectionKey key : selector.selectedKeys()) {
        ((Connection) key.attachment()).read();
      }
      selector.selectedKeys().clear();
    }
    for (int i = 0; i < connections.size(); i++) {
      Connection connection = connections.get(i);
      if (connection.out.position() > 0) {
        connection.write();
      }
    }
  }

  private int waiting() {
    int waiting = 0;
    for (Connection connection : connections) {
      waiting += connection.sent - connection.answered;
    }
    return waiting;
  }

  /** Draws a key by xorshift. */
  private int key() {
    random ^= random << 13;
    random ^= random >>> 7;
    random ^= random << 17;
    return (int) Long.remainderUnsigned(random, KEYS);
  }

  private static void print(String what, Times times, double perSecond, long unanswered) {
    System.out.printf(
        Locale.ROOT,
        "%s %.0f %.3f %.3f %.3f %.3f %.3f %.3f %.3f %d%n",
        what,
        perSecond,
        times.answered.getValueAtPercentile(50) / 1e6,
        times.answered.getValueAtPercentile(99) / 1e6,
        times.answered.getValueAtPercentile(99.9) / 1e6,
        times.answered.getMaxValue() / 1e6,
        times.noticed.getValueAtPercentile(99) / 1e6,
        times.noticed.getMaxValue() / 1e6,
        times.written.getValueAtPercentile(99) / 1e6,
        unanswered);
  }
}
