package dev.weir.core.test;

import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A program with a limiter whose store has a folder, to be killed. It reads commands from standard
 * input, and prints a line for each.
 */
final class LimiterProcess {
  private static final String KEY = "user:42";

  /** Longer than the two short windows, and shorter than the day. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final MemoryStore store;
  private final RateLimiter limiter;

  private LimiterProcess(Path folder, long second, long minute, long day) throws Exception {
    store = MemoryStore.builder().maxKeys(1_000).journal(folder).build();
    limiter =
        RateLimiter.builder(
                named("second", Quota.perSecond(second)),
                named("minute", Quota.perMinute(minute)),
                named("day", Quota.perDay(day)))
            .store(store)
            .build();
  }

  private static Policy named(String name, Quota quota) {
    return Policy.builder(quota).name(name).build();
  }

  /** Runs until standard input ends: the folder, and the quotas of a second, a minute and a day. */
  public static void main(String[] arguments) throws Exception {
    LimiterProcess process =
        new LimiterProcess(
            Path.of(arguments[0]),
            Long.parseLong(arguments[1]),
            Long.parseLong(arguments[2]),
            Long.parseLong(arguments[3]));
    System.out.println("open");
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ", -1);
      switch (words[0]) {
        case "request" -> System.out.println(process.admitted(Integer.parseInt(words[1])));
        case "load" -> process.load(Integer.parseInt(words[1]));
        case "halt" -> Runtime.getRuntime().halt(3);
        case "close" -> {
          process.store.close();
          System.out.println("closed");
        }
        default -> throw new IllegalArgumentException(line);
      }
    }
  }

  /** Returns how many of some requests were admitted, each after the short windows. */
  private int admitted(int requests) throws InterruptedException {
    int admitted = 0;
    for (int i = 0; i < requests; i++) {
      admitted += limiter.acquire(KEY, PATIENCE).allowed() ? 1 : 0;
    }
    return admitted;
  }

  /** Sends requests by several threads until one is refused; prints a line for each admission. */
  private void load(int threads) throws InterruptedException {
    List<Thread> senders = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Thread sender =
          new Thread(
              () -> {
                while (limiter.tryAcquire(KEY).allowed()) {
                  System.out.println("admitted");
                }
              });
      senders.add(sender);
      sender.start();
    }
    for (Thread each : senders) {
      each.join();
    }
    System.out.println("refused");
  }
}
