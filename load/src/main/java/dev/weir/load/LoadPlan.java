package dev.weir.load;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What load to put on which server.
 *
 * @param inFlight requests in flight on each connection
 * @param rate requests due per second, or 0 for as many as are answered
 * @param keys number of different keys
 * @param deniedMillionths share of requests that go to a few keys which are used up soon, 0 to
 *     1,000,000
 * @param throttle what {@code CL.THROTTLE} asks for: burst, count, seconds
 * @param token sent to the server, or null
 * @param tlsCa CA certificates to trust; null for plain text
 */
public record LoadPlan(
    Door door,
    Target target,
    int connections,
    int inFlight,
    long rate,
    long durationNanos,
    long warmupNanos,
    long keys,
    KeyDraw.Kind draw,
    long deniedMillionths,
    String domain,
    String descriptor,
    Throttle throttle,
    @Nullable String token,
    @Nullable Path tlsCa) {

  /** Digits of a key: those of the highest key number. */
  static final int KEY_DIGITS = 9;

  public static final long MAX_KEYS = 100_000_000;

  /**
   * The server's address.
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

  /** The limit in a {@code CL.THROTTLE} command. */
  public record Throttle(long maxBurst, long count, long periodSeconds) {
    @Override
    public String toString() {
      return maxBurst + " " + count + " " + periodSeconds;
    }
  }

  Schedule schedule() {
    return rate == 0
        ? new ClosedSchedule(warmupNanos, durationNanos)
        : new OpenSchedule(rate, warmupNanos, durationNanos);
  }

  KeyDraw keyDraw(int lane) {
    return new KeyDraw(draw, (int) keys, deniedMillionths, lane);
  }

  /** Returns the plan as one line of text. */
  String text() {
    return String.format(
        Locale.ROOT,
        "%s at %s, %d connection%s of %d in flight, %,d keys %s, %s",
        door,
        target.authority(),
        connections,
        connections == 1 ? "" : "s",
        inFlight,
        keys,
        draw,
        rate == 0 ? "as fast as answered" : String.format(Locale.ROOT, "%,d/s due", rate));
  }
}
