package dev.weir.bench.redis;

import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The figures that Redis reports about itself. */
final class RedisFigures {
  private static final Pattern COMMAND =
      Pattern.compile("^cmdstat_([^:]+):calls=(\\d+),", Pattern.MULTILINE);
  private static final Pattern SCRIPT = Pattern.compile("eval(sha)?(_ro)?|fcall(_ro)?");
  private static final Pattern BUFFERS = Pattern.compile(" tot-mem=(\\d+)");

  private final StatefulRedisConnection<String, String> connection;

  RedisFigures(StatefulRedisConnection<String, String> connection) {
    this.connection = connection;
  }

  /**
   * The number of commands that Redis has executed.
   *
   * @param scripts the calls of scripts and functions
   * @param all these calls, the commands that they ran, and everything else except {@code INFO}
   */
  record Commands(long scripts, long all) {
    Commands since(Commands earlier) {
      return new Commands(scripts - earlier.scripts, all - earlier.all);
    }

    /** Reads the section {@code commandstats} of {@code INFO}. */
    static Commands of(String info) {
      long scripts = 0;
      long all = 0;
      Matcher matcher = COMMAND.matcher(info);
      while (matcher.find()) {
        String name = matcher.group(1);
        long calls = Long.parseLong(matcher.group(2));
        all += name.equals("info") ? 0 : calls;
        scripts += SCRIPT.matcher(name).matches() ? calls : 0;
      }
      return new Commands(scripts, all);
    }
  }

  String version() {
    return find("redis_version", "(\\S+)", connection.sync().info("server"));
  }

  Commands commands() {
    return Commands.of(connection.sync().info("commandstats"));
  }

  /** Returns the bytes in use, without the buffers of clients, which come and go. */
  long usedMemory() {
    String used = find("used_memory", "(\\d+)", connection.sync().info("memory"));
    return Long.parseLong(used) - bufferBytes(connection.sync().clientList());
  }

  /** Sums up the answer of {@code CLIENT LIST}; the figure in {@code INFO} is a second old. */
  static long bufferBytes(String clients) {
    return BUFFERS.matcher(clients).results().mapToLong(r -> Long.parseLong(r.group(1))).sum();
  }

  private static String find(String name, String value, String info) {
    Matcher matcher = Pattern.compile("^" + name + ":" + value, Pattern.MULTILINE).matcher(info);
    if (!matcher.find()) {
      throw new IllegalStateException(name + ": missing (expected: in INFO)");
    }
    return matcher.group(1);
  }

  /** Removes all keys. */
  void clear() {
    connection.sync().flushall();
  }

  /** Returns the number of keys. */
  long keys() {
    return connection.sync().dbsize();
  }

  /** Returns the sum of {@code MEMORY USAGE} over all keys. */
  long memoryUsage() {
    long sum = 0;
    ScanCursor cursor = ScanCursor.INITIAL;
    while (!cursor.isFinished()) {
      KeyScanCursor<String> page = connection.sync().scan(cursor, ScanArgs.Builder.limit(1_000));
      List<RedisFuture<Long>> usages = new ArrayList<>();
      page.getKeys().forEach(key -> usages.add(connection.async().memoryUsage(key)));
      for (RedisFuture<Long> usage : usages) {
        Long bytes = usage.toCompletableFuture().join();
        sum += bytes == null ? 0 : bytes; // It has expired since.
      }
      cursor = page;
    }
    return sum;
  }
}
