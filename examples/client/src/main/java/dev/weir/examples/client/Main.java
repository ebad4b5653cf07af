package dev.weir.examples.client;

import dev.weir.Reason;
import dev.weir.client.ClientMetrics;
import dev.weir.client.WeirClient;
import dev.weir.engine.Answer;
import dev.weir.rules.Request;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * A program that sends requests for two keys a thousand times a second each, and prints the counts
 * every second.
 */
public final class Main {
  private static final String[] KEYS = {"leased", "open"};
  private static final long GAP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final WeirClient weir;
  private final Map<String, LongAdder> outcomes = new ConcurrentSkipListMap<>();

  private Main(WeirClient weir) {
    this.weir = weir;
  }

  /** Runs the program. Arguments: the server's gRPC port as host:port, seconds. */
  public static void main(String[] arguments) throws InterruptedException {
    String server = arguments.length > 0 ? arguments[0] : "127.0.0.1:8081";
    int seconds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 30;
    try (WeirClient weir = WeirClient.builder(server).build()) {
      if (!weir.awaitAvailable(Duration.ofSeconds(20))) {
        System.out.println(server + ": does not answer");
      }
      new Main(weir).request(seconds);
    }
  }

  private void request(int seconds) throws InterruptedException {
    ClientMetrics before = weir.metrics();
    for (int second = 1; second <= seconds; second++) {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
      while (System.nanoTime() - end < 0) {
        for (String key : KEYS) {
          weir.decide(Request.of("example", key, "alice"), answer -> count(key, answer));
        }
        TimeUnit.NANOSECONDS.sleep(GAP_NANOS);
      }
      ClientMetrics now = weir.metrics();
      System.out.printf(
          "%2d s  server %-5s %s  %d messages%n",
          second, now.available() ? "there" : "away", taken(), now.messages() - before.messages());
      before = now;
    }
  }

  private void count(String key, Answer answer) {
    String how = answer.allowed() ? "admitted" : "refused";
    String why = answer.reason() == Reason.UNCERTAIN ? " UNCERTAIN" : "";
    outcomes.computeIfAbsent(key + " " + how + why, unused -> new LongAdder()).increment();
  }

  private Map<String, Long> taken() {
    Map<String, Long> taken = new TreeMap<>();
    outcomes.forEach((outcome, count) -> taken.put(outcome, count.sumThenReset()));
    taken.values().removeIf(count -> count == 0);
    return taken;
  }
}
