package dev.weir.cli;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What load to put on which server.
 *
 * @param inFlight requests of each connection that are out at once
 * @param rate requests due in a second, or 0 for as many as are answered
 * @param keys how many keys are asked for
 * @param denied share of requests that go to a few keys which are used up soon, 0 to 1
 * @param throttle what {@code CL.THROTTLE} asks for: burst, count, seconds
 * @param token shown to the server, if it wants one
 * @param tlsCa whom to trust; without, the connection is in the clear
 */
record LoadPlan(
    Door door,
    Target target,
    int connections,
    int inFlight,
    long rate,
    long durationNanos,
    long warmupNanos,
    long keys,
    KeyDraw.Kind draw,
    double denied,
    String domain,
    String descriptor,
    Throttle throttle,
    @Nullable String token,
    @Nullable Path tlsCa) {

  /** Digits of a key: as many as the highest key number has. */
  static final int KEY_DIGITS = 9;

  static final long MAX_KEYS = 100_000_000;

  /**
   * Where the server is.
   *
   * @param host as it was named, which is what its certificate must say
   * @param address as it was resolved, once
   */
  record Target(String host, InetSocketAddress address) {
    /** Returns host and port, as they stand in a URL. */
    String authority() {
      return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
    }
  }

  /** The limit that a request to the door resp brings. */
  record Throttle(long maxBurst, long count, long periodSeconds) {
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
    return new KeyDraw(draw, keys, denied, lane);
  }

  /** Returns the plan in a line for people. */
  String text() {
    return String.format(
        Locale.ROOT,
        "%s at %s, %s of %d in flight, %,d keys %s, %s",
        door,
        target.authority(),
        Text.count(connections, "connection"),
        inFlight,
        keys,
        draw,
        rate == 0 ? "as fast as answered" : String.format(Locale.ROOT, "%,d/s due", rate));
  }
}
