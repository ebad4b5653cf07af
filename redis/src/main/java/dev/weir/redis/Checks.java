package dev.weir.redis;

import io.lettuce.core.api.async.RedisServerAsyncCommands;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What a Redis must be like to hold limits. */
final class Checks {
  private static final int LEAST_MAJOR = 6;
  private static final int LEAST_MINOR = 2;

  private Checks() {}

  /** Asks the server about itself, and tells what is wrong with it. */
  static void run(RedisServerAsyncCommands<byte[], byte[]> redis, Consumer<? super String> log) {
    redis
        .info()
        .whenComplete(
            (info, error) -> {
              if (info != null) {
                check(info, log);
              }
            });
  }

  static void check(String info, Consumer<? super String> log) {
    String policy = field(info, "maxmemory_policy");
    if (policy != null && !policy.equals("noeviction")) {
      log.accept(
          "the store's maxmemory-policy: "
              + policy
              + " (expected: noeviction, or keys that still count are forgotten)");
    }
    String version = field(info, "redis_version");
    if (version != null && older(version)) {
      log.accept("the store's version: " + version + " (expected: Redis 6.2 or newer, or Valkey)");
    }
  }

  private static boolean older(String version) {
    String[] parts = version.split("\\.", -1);
    try {
      int major = Integer.parseInt(parts[0]);
      int minor = parts.length > 1 ? Integer.parseInt(parts[1]) : 0;
      return major < LEAST_MAJOR || (major == LEAST_MAJOR && minor < LEAST_MINOR);
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private static @Nullable String field(String info, String name) {
    for (String line : info.split("\r?\n", -1)) {
      if (line.startsWith(name + ":")) {
        return line.substring(name.length() + 1).trim();
      }
    }
    return null;
  }
}
