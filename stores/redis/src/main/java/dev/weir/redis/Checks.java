package dev.weir.redis;

import dev.weir.Ticker;
import dev.weir.shared.Counters;
import dev.weir.shared.Loss;
import dev.weir.shared.StoreSettings;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A check of Redis's settings, which must let it keep limits, and of the signs that it has
 * forgotten some. Safe for use by many threads.
 */
final class Checks {
  private static final int LEAST_MAJOR = 6;
  private static final int LEAST_MINOR = 2;

  private static final long EVERY_NANOS = 60_000_000_000L;

  private final Ticker ticker;
  private final Consumer<? super String> warnings;
  private final Counters counters;
  private final Map<String, ServerProcess> processes = new HashMap<>();
  private final Map<String, Set<String>> problems = new HashMap<>();
  private Set<String> said = Set.of();
  private long lookAtNanos;

  /** The process of a server, and the number of keys that it has evicted. */
  private record ServerProcess(String runId, long evicted) {}

  /**
   * Creates a check.
   *
   * @param settings with the receiver of the problems, when these change
   */
  Checks(StoreSettings settings) {
    ticker = settings.clocks().monotonic();
    warnings = settings.warnings();
    counters = settings.counters();
    lookAtNanos = ticker.nanos();
  }

  /** Makes the next tick check the servers, which may be others now. */
  synchronized void checkNow() {
    lookAtNanos = ticker.nanos();
  }

  /**
   * Checks the servers if it is time: a setting may change while they run.
   *
   * @param servers by name, each with the answer to INFO; without the right to read that, the check
   *     reports nothing
   */
  void tick(Supplier<Map<String, CompletionStage<String>>> servers) {
    synchronized (this) {
      if (ticker.nanos() - lookAtNanos < 0) {
        return;
      }
      lookAtNanos = ticker.nanos() + EVERY_NANOS;
    }
    Map<String, CompletionStage<String>> asked = servers.get();
    synchronized (this) {
      problems.keySet().retainAll(asked.keySet());
      processes.keySet().retainAll(asked.keySet());
    }
    asked.forEach(
        (name, info) ->
            info.whenComplete(
                (text, error) -> {
                  if (text != null) {
                    report(name, problems(text));
                    compare(name, text);
                  }
                }));
  }

  private synchronized void report(String server, Set<String> found) {
    problems.put(server, found);
    Set<String> all = new TreeSet<>();
    problems.values().forEach(all::addAll);
    for (String problem : all) {
      if (!said.contains(problem)) {
        warnings.accept(problem);
      }
    }
    if (all.isEmpty() && !said.isEmpty()) {
      warnings.accept("the store's settings are as they have to be, again");
    }
    said = all;
  }

  /** Reports that a server is another process than before, or has evicted keys since then. */
  private synchronized void compare(String server, String info) {
    String runId = field(info, "run_id");
    if (runId == null) {
      return;
    }
    ServerProcess now = new ServerProcess(runId, number(info, "evicted_keys"));
    ServerProcess before = processes.put(server, now);
    if (before == null) {
      return;
    }
    if (!before.runId.equals(runId)) {
      counters.lost(Loss.RESTART, 1);
      warnings.accept(
          "the store is another process than before (run_id "
              + runId
              + "): it was restarted, or another one took its place; decisions that it had not"
              + " written or received by then are forgotten");
    } else if (now.evicted > before.evicted) {
      counters.lost(Loss.EVICTION, now.evicted - before.evicted);
      warnings.accept(
          "the store has evicted "
              + (now.evicted - before.evicted)
              + " keys for lack of memory: keys of limits among them have their whole quota again"
              + " (expected: maxmemory-policy noeviction, and enough memory)");
    }
  }

  private static long number(String info, String name) {
    String text = field(info, name);
    try {
      return text == null ? 0 : Long.parseLong(text);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** Returns the problems of a server, by its answer to INFO. */
  static Set<String> problems(String info) {
    Set<String> problems = new TreeSet<>();
    String policy = field(info, "maxmemory_policy");
    if (policy != null && !policy.equals("noeviction")) {
      problems.add(
          "the store's maxmemory-policy: "
              + policy
              + " (expected: noeviction, or keys that still count are forgotten)");
    }
    String version = field(info, "redis_version");
    if (version != null && older(version)) {
      problems.add(
          "the store's version: " + version + " (expected: Redis 6.2 or newer, or Valkey)");
    }
    return problems;
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
