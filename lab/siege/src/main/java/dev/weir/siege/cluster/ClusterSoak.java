package dev.weir.siege.cluster;

import dev.weir.siege.SiegeRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/** A long siege of clusters, by hand: every fault in turn, at every site, and a table of them. */
final class ClusterSoak {
  private ClusterSoak() {}

  /** The results of all rounds of one fault. */
  private static final class Row {
    private final String fault;
    private int rounds;
    private long admitted;
    private long keys;
    private boolean wrong;
    private long excess;
    private long uncertain;
    private long unanswered;
    private long gapNanos;
    private long healNanos;

    Row(String fault) {
      this.fault = fault;
    }

    void add(ClusterSiege.Outcome outcome) {
      rounds++;
      admitted += outcome.judgement().admitted();
      for (SiegeRule each : ClusterRules.LIMITS) {
        excess = Math.max(excess, outcome.excess(each));
      }
      keys += outcome.keys().judged();
      wrong |= !outcome.broken().isEmpty();
      uncertain += outcome.judgement().uncertain();
      unanswered += outcome.judgement().unanswered();
      gapNanos = Math.max(gapNanos, outcome.judgement().gapNanos());
      healNanos = Math.max(healNanos, outcome.healNanos());
    }

    String line() {
      return String.format(
          Locale.ROOT,
          "| %s | %d | %d | %d | %d | %d | %d | %.1f | %.1f |",
          fault,
          rounds,
          admitted,
          excess,
          keys,
          uncertain,
          unanswered,
          gapNanos / 1e9,
          healNanos / 1e9);
    }
  }

  /**
   * Besieges a cluster at each site and prints a table.
   *
   * <pre>ClusterSoak MINUTES SEED [MEMBERS]</pre>
   *
   * The exit status is 1 if a limit was exceeded, if permits were forgotten or charged twice, if
   * the requests for a key cannot have been decided one after the other, or if a cluster did not
   * heal.
   */
  public static void main(String[] arguments) throws Exception {
    SplittableRandom random = new SplittableRandom(Long.parseLong(arguments[1]));
    int size = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 3;
    Path folder = Files.createTempDirectory("weir-cluster-soak");
    List<Row> rows = new ArrayList<>();
    Map<String, ClusterSite.Place> places = ClusterSite.places();
    double minutes = Double.parseDouble(arguments[0]) / places.size();
    Duration each = Duration.ofMillis((long) (minutes * 60_000));
    for (Map.Entry<String, ClusterSite.Place> place : places.entrySet()) {
      Path own = Files.createDirectory(folder.resolve(place.getKey().replace(' ', '-')));
      ClusterSite site = place.getValue().make(own, size, random);
      if (site != null) {
        besiege(site, each, random, rows);
      }
    }
    System.out.println(
        "| fault | rounds | admissions | certain excess | histories | uncertain answers | no answer"
            + " | longest time without an admission, s | longest healing, s |");
    System.out.println("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    rows.forEach(row -> System.out.println(row.line()));
    System.exit(rows.stream().noneMatch(row -> row.wrong) ? 0 : 1);
  }

  /** Makes all faults strike in turn, each at least once, as long as the cluster heals. */
  private static void besiege(
      ClusterSite site, Duration length, SplittableRandom random, List<Row> rows)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + length.toNanos();
    int first = rows.size();
    site.faults().forEach(fault -> rows.add(new Row(fault.toString())));
    try (ClusterSiege siege = ClusterSiege.start(site, ClusterRules.ASKED, random)) {
      for (int round = 0; round < site.faults().size() || System.nanoTime() - end < 0; round++) {
        int number = round % site.faults().size();
        Row row = rows.get(first + number);
        try {
          ClusterSiege.Outcome outcome = siege.round(site.faults().get(number));
          row.add(outcome);
          System.err.println(outcome);
        } catch (IOException e) {
          row.wrong = true;
          System.err.println(row.fault + ": " + e.getMessage());
          return;
        }
      }
    }
  }
}
