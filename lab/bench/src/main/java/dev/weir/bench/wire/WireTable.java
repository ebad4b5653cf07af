package dev.weir.bench.wire;

import dev.weir.bench.Median;
import dev.weir.bench.Programs;
import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.DoubleStream;

/**
 * One table of {@link Wire}: the requests per second of each contestant, and the server's processor
 * time for a request. The latter counts if the client's processor is the busy one.
 */
final class WireTable {
  /**
   * The most warm-ups: a virtual machine on one processor takes a while to compile the code that it
   * runs.
   */
  private static final int MOST_WARM_UPS = 12;

  private static final double WARM = 1.05;

  /**
   * The results of one run.
   *
   * @param serverMicros the processor time of all servers for a request, in microseconds; the
   *     others are idle meanwhile
   */
  private record Found(double perSecond, double serverMicros) {}

  private final Programs servers;
  private final int rounds;

  WireTable(Programs servers, int rounds) {
    this.servers = servers;
    this.rounds = rounds;
  }

  /** Runs all contestants in turn, once to warm them up, and prints medians. */
  void print(String title, Wire.Contestant... contestants)
      throws IOException, InterruptedException {
    for (Wire.Contestant contestant : contestants) {
      warmUp(title, contestant);
    }
    Found[][] found = new Found[contestants.length][rounds];
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < contestants.length; i++) {
        found[i][round] = run(title, contestants[i]);
      }
    }
    System.out.printf(
        "%n**%s**%n%n| | per second | ratio | lowest, highest | server's processor, us each |%n"
            + "|---|---|---|---|---|%n",
        title);
    double first = Median.of(rates(found[0]));
    for (int i = 0; i < contestants.length; i++) {
      double median = Median.of(rates(found[i]));
      String ratio = i == 0 ? "" : String.format(Locale.ROOT, "Weir has %.2f x", first / median);
      System.out.printf(
          Locale.ROOT,
          "| %s | %,.0f | %s | %,.0f, %,.0f | %.2f |%n",
          contestants[i].name(),
          median,
          ratio,
          rates(found[i]).min().orElse(median),
          rates(found[i]).max().orElse(median),
          Median.of(Arrays.stream(found[i]).mapToDouble(Found::serverMicros)));
    }
  }

  private static DoubleStream rates(Found[] found) {
    return Arrays.stream(found).mapToDouble(Found::perSecond);
  }

  /** Runs a contestant until it gets no faster. */
  private void warmUp(String title, Wire.Contestant contestant)
      throws IOException, InterruptedException {
    double best = 0;
    int same = 0;
    for (int i = 0; i < MOST_WARM_UPS && same < 2; i++) {
      double perSecond = run(title + ", warm-up", contestant).perSecond();
      same = perSecond < best * WARM ? same + 1 : 0;
      best = Math.max(best, perSecond);
    }
  }

  private Found run(String title, Wire.Contestant contestant)
      throws IOException, InterruptedException {
    long began = System.nanoTime();
    double before = serverSeconds();
    double perSecond = contestant.run().perSecond();
    double taken = serverSeconds() - before;
    double requests = perSecond * (System.nanoTime() - began) / 1e9;
    System.err.printf(Locale.ROOT, "%s: %s %,.0f/s%n", title, contestant.name(), perSecond);
    return new Found(perSecond, 1e6 * taken / requests);
  }

  private double serverSeconds() {
    return servers.cpuNanos() / 1e9;
  }
}
