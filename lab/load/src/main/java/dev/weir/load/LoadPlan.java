package dev.weir.load;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The load to put on one or several servers.
 *
 * @param targets at least one; connections are opened to each of them in turn
 */
public record LoadPlan(
    Door door,
    List<Target> targets,
    Connections connections,
    Timing timing,
    Requests requests,
    Access access) {

  /** Digits of a key: those of the highest key number. */
  static final int KEY_DIGITS = 9;

  public static final long MAX_KEYS = 100_000_000;

  public LoadPlan {
    targets = List.copyOf(targets);
  }

  /**
   * A server's address.
   *
   * @param host as it was named, which is what its certificate must say
   * @param address as it was resolved, once
   */
  public record Target(String host, InetSocketAddress address) {
    /** Returns host and port, as they stand in a URL. */
    public String authority() {
      return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
    }
  }

  /**
   * The connections, to all targets together.
   *
   * @param inFlight requests in flight on each
   */
  public record Connections(int count, int inFlight, Loops loops) {}

  /**
   * The threads that serve the connections.
   *
   * @param most so many, or one for each connection if that is fewer
   * @param restNanos how long a polling thread rests between two looks, 0 if it never rests; or
   *     {@link #WOKEN}
   */
  public record Loops(int most, long restNanos) {
    /** Threads are woken when a request is due, and when an answer arrives. */
    static final long WOKEN = -1;

    /** Returns one thread for each processor, woken by requests that are due and by answers. */
    public static Loops woken() {
      return new Loops(Runtime.getRuntime().availableProcessors(), WOKEN);
    }

    /**
     * Returns one polling thread. Requests that are due at one look go out in one write, as far as
     * one connection has room for them, and the thread measures its own lateness. A thread that
     * never rests needs a processor of its own.
     *
     * @param restNanos at least 0
     */
    public static Loops polling(long restNanos) {
      return new Loops(1, restNanos);
    }

    boolean poll() {
      return restNanos != WOKEN;
    }
  }

  /**
   * The times of a load.
   *
   * @param rate requests due per second, or 0 for as many as are answered
   * @param partNanos the length of the parts whose results are reported one by one
   */
  public record Timing(long rate, long warmupNanos, long durationNanos, long partNanos) {
    /** Returns times with a part for each second. */
    public static Timing bySecond(long rate, long warmupNanos, long durationNanos) {
      return new Timing(rate, warmupNanos, durationNanos, TimeUnit.SECONDS.toNanos(1));
    }

    Schedule schedule() {
      return rate == 0
          ? new ClosedSchedule(warmupNanos, durationNanos)
          : new OpenSchedule(rate, warmupNanos, durationNanos);
    }
  }

  /**
   * The requests, each for one permit of one key.
   *
   * @param throttle what {@code CL.THROTTLE} asks for
   */
  public record Requests(String domain, String descriptor, Throttle throttle, Keys keys) {}

  /** The limit in a {@code CL.THROTTLE} command: burst, count, seconds. */
  public record Throttle(long maxBurst, long count, long periodSeconds) {
    @Override
    public String toString() {
      return maxBurst + " " + count + " " + periodSeconds;
    }
  }

  /**
   * The keys that are asked for.
   *
   * @param count number of different keys
   * @param deniedMillionths share of requests that go to a few keys which are used up soon, 0 to
   *     1,000,000
   */
  public record Keys(long count, KeyDraw.Kind draw, long deniedMillionths) {
    /**
     * @param number of the connection that draws
     * @param turn how many keys all connections have drawn in turn
     */
    KeyDraw keyDraw(int number, AtomicLong turn) {
      return new KeyDraw(draw, (int) count, deniedMillionths, number, turn);
    }
  }

  /**
   * A client's token, and the certificates that it trusts.
   *
   * @param token sent to the servers, or null
   * @param tlsCa CA certificates to trust; null for plain text
   */
  public record Access(@Nullable String token, @Nullable Path tlsCa) {
    /** No token, and plain text. */
    public static final Access OPEN = new Access(null, null);
  }

  /** Returns the target of a connection. */
  Target target(int connection) {
    return targets.get(connection % targets.size());
  }

  /** Returns hosts and ports of all targets. */
  public String authority() {
    return targets.stream().map(Target::authority).collect(Collectors.joining(","));
  }

  /** Returns the plan as one line of text. */
  String text() {
    return String.format(
        Locale.ROOT,
        "%s at %s, %d connection%s of %d in flight, %,d keys %s, %s",
        door,
        authority(),
        connections.count(),
        connections.count() == 1 ? "" : "s",
        connections.inFlight(),
        requests.keys().count(),
        requests.keys().draw(),
        timing.rate() == 0
            ? "as fast as answered"
            : String.format(Locale.ROOT, "%,d/s due", timing.rate()));
  }
}
