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
 * @param targets the targets, at least one; connections are opened to each of them in turn
 */
public record LoadPlan(
    Door door,
    List<Target> targets,
    Connections connections,
    Timing timing,
    Requests requests,
    Access access) {

  /** The number of digits of a key: those of the highest key number. */
  static final int KEY_DIGITS = 9;

  public static final long MAX_KEYS = 100_000_000;

  public LoadPlan {
    targets = List.copyOf(targets);
  }

  /**
   * A server's address.
   *
   * @param host the host as it was named, and as it must be in the certificate
   * @param address the address, resolved once
   */
  public record Target(String host, InetSocketAddress address) {
    /** Returns host and port in the form of a URL. */
    public String authority() {
      return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
    }
  }

  /**
   * The connections, to all targets together.
   *
   * @param inFlight the requests in flight on each connection
   */
  public record Connections(int count, int inFlight, Loops loops) {}

  /**
   * The threads that serve the connections.
   *
   * @param most the most threads; one for each connection if that is fewer
   * @param restNanos the time that a polling thread rests between two polls, 0 if it never rests;
   *     or {@link #WOKEN}
   */
  public record Loops(int most, long restNanos) {
    /** The value for threads that are woken when a request is due, and when an answer arrives. */
    static final long WOKEN = -1;

    /** Returns one thread for each processor, woken by requests that are due and by answers. */
    public static Loops woken() {
      return new Loops(Runtime.getRuntime().availableProcessors(), WOKEN);
    }

    /**
     * Returns one polling thread. Requests that are due at one poll go out in one write, as far as
     * one connection has room for them, and the thread measures its own lateness. A thread that
     * never rests needs its own processor.
     *
     * @param restNanos the rest between two polls, at least 0
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
   * @param rate the requests due per second, or 0 for as many as are answered
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
   * @param throttle the limit of {@code CL.THROTTLE} commands
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
   * The keys of requests.
   *
   * @param count the number of different keys
   * @param deniedMillionths the share of requests for a few keys that are used up soon, 0 to
   *     1,000,000
   */
  public record Keys(long count, KeyDraw.Kind draw, long deniedMillionths) {
    /**
     * @param number the number of the connection that draws
     * @param turn the number of keys that all connections have drawn in turn
     */
    KeyDraw keyDraw(int number, AtomicLong turn) {
      return new KeyDraw(draw, (int) count, deniedMillionths, number, turn);
    }
  }

  /**
   * A client's token, and the certificates that it trusts.
   *
   * @param token the token that is sent to the servers, or null
   * @param tlsCa the CA certificates to trust; null for plain text
   */
  public record Access(@Nullable String token, @Nullable Path tlsCa) {
    /** Access without a token, in plain text. */
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
