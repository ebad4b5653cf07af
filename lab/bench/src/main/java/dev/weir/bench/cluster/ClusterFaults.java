package dev.weir.bench.cluster;

import static dev.weir.bench.cluster.ClusterFigures.print;

import dev.weir.load.LoadResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measurements of three members: at rest, after kill -9, with a million keys, and after a restart
 * with them.
 */
final class ClusterFaults {
  /**
   * The rate at which keys are charged: three members beside the generator decide more on two
   * processors at their best.
   */
  private static final double FILL_PER_SECOND = 25_000;

  private static final long SETTLE_MILLIS = 60_000;
  private static final long IDLE_MILLIS = 30_000;
  private static final double FAILOVER_PER_SECOND = 2_000;
  private static final double FAILOVER_SECONDS = 5;
  private static final long KILL_AFTER_MILLIS = 1_500;
  private static final double MOVING_PER_SECOND = 10_000;
  private static final double MOVING_WARM_UP_SECONDS = 20;
  private static final double MOVING_SECONDS = 5;
  private static final int MOST_MOVING_ROUNDS = 20;
  private static final Pattern KEYS_HELD =
      Pattern.compile("\"keys\":(\\d+),\"state_bytes\":(\\d+)");

  private final ClusterMembers members;
  private final int rounds;

  ClusterFaults(ClusterMembers members, int rounds) {
    this.members = members;
    this.rounds = rounds;
  }

  /** Measures one part, or all of them. */
  void run(String part) throws IOException, InterruptedException {
    members.leader();
    boolean all = part.equals("all");
    if (all || part.equals("idle")) {
      idle();
    }
    if (all || part.equals("failover")) {
      failovers();
    }
    if (part.equals("rebalance")) {
      rebalance();
    }
    if (all || part.equals("memory") || part.equals("restart")) {
      fill();
    }
    if (all || part.equals("restart")) {
      restarts();
    }
  }

  /**
   * Measures a rebalance: the keys of one group are spread over two while members receive requests.
   */
  private void rebalance() throws IOException, InterruptedException {
    LoadResult unused =
        ClusterLoad.STRICT.open(members.ports(), MOVING_PER_SECOND, 0, MOVING_WARM_UP_SECONDS);
    moving("before");
    ClusterFigures.progress("one group becomes two");
    String said = members.change("{\"verb\":\"groups\",\"groups\":2}");
    ClusterFigures.progress(said.trim());
    long begun = System.nanoTime();
    boolean moved = false;
    for (int i = 0; i < MOST_MOVING_ROUNDS && !moved; i++) {
      moving("meanwhile");
      moved = members.status(0).contains("\"slots_to_move\":0,");
    }
    print(
        String.format(
            Locale.ROOT,
            moved ? "Half of the slots have moved within %.0f s." : "Not all moved in %.0f s.",
            (System.nanoTime() - begun) / 1e9));
    moving("after");
  }

  private void moving(String when) throws IOException, InterruptedException {
    LoadResult got = ClusterLoad.STRICT.open(members.ports(), MOVING_PER_SECOND, 0, MOVING_SECONDS);
    print(
        String.format(
            Locale.ROOT,
            "%s: %,.0f decided/s, p50 %.1f ms, p99 %.1f ms, longest time without an admission %.0f"
                + " ms, %,d of %,d not decided.",
            when,
            got.counts().answered() / MOVING_SECONDS,
            ClusterFigures.millis(got, 50),
            ClusterFigures.millis(got, 99),
            got.longestGapNanos() / 1e6,
            got.undecided(),
            got.due()));
  }

  private void idle() throws InterruptedException {
    ClusterFigures.progress("members are left alone");
    Thread.sleep(SETTLE_MILLIS);
    double before = members.cpuNanos();
    Thread.sleep(IDLE_MILLIS);
    double idle = (members.cpuNanos() - before) / members.size() / (1e4 * IDLE_MILLIS);
    print(String.format(Locale.ROOT, "An idle member takes %.1f %% of a processor.", idle));
  }

  /**
   * Measures failovers: each time, the leader is killed while the others receive requests, and
   * started again afterwards.
   */
  private void failovers() throws IOException, InterruptedException {
    List<Double> gaps = new ArrayList<>();
    for (int i = 0; i < rounds; i++) {
      int leader = members.leader();
      ClusterFigures.progress("round " + (i + 1) + ": kill -9 of the leader");
      Thread killer =
          new Thread(
              () -> {
                try {
                  Thread.sleep(KILL_AFTER_MILLIS);
                  members.kill(leader);
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              });
      killer.start();
      LoadResult got =
          ClusterLoad.STRICT.open(
              members.ports(leader), FAILOVER_PER_SECOND, 0.5, FAILOVER_SECONDS);
      gaps.add(got.longestGapNanos() / 1e6);
      ClusterFigures.progress("no admission for " + Math.round(gaps.get(i)) + " ms");
      killer.join();
      members.start(leader);
      String unused = members.healthy(leader);
    }
    print(
        String.format(
            Locale.ROOT,
            "Without an admission after kill -9 of the leader: median %.0f ms, %.0f to %.0f ms in"
                + " %d rounds.",
            ClusterFigures.median(gaps, each -> each),
            gaps.stream().mapToDouble(each -> each).min().orElse(Double.NaN),
            gaps.stream().mapToDouble(each -> each).max().orElse(Double.NaN),
            rounds));
  }

  /** Charges a million keys once, and prints the memory that they take. */
  private void fill() throws IOException, InterruptedException {
    ClusterFigures.progress("a million keys are charged");
    LoadResult filled =
        ClusterLoad.EACH_KEY.open(
            members.ports(), FILL_PER_SECOND, 0, ClusterLoad.KEYS / FILL_PER_SECOND);
    Matcher held = KEYS_HELD.matcher(members.healthy(0));
    if (!held.find()) {
      throw new IOException("no keys");
    }
    double keys = Double.parseDouble(held.group(1));
    print(
        String.format(
            Locale.ROOT,
            "%,.0f keys take %.1f bytes each in a replica (%,d of %,d were admitted). %s",
            keys,
            Double.parseDouble(held.group(2)) / keys,
            filled.counts().allowed(),
            filled.due(),
            ClusterFigures.errors(filled)));
  }

  /** Measures restarts: each time, a member that does not lead is killed and started. */
  private void restarts() throws IOException, InterruptedException {
    List<Double> ready = new ArrayList<>();
    List<Double> healthy = new ArrayList<>();
    for (int i = 0; i < rounds; i++) {
      int other = (members.leader() + 1) % members.size();
      ClusterFigures.progress("round " + (i + 1) + ": kill -9 of a follower");
      members.kill(other);
      long killed = System.nanoTime();
      members.start(other);
      ready.add((System.nanoTime() - killed) / 1e9);
      String unused = members.healthy(other);
      healthy.add((System.nanoTime() - killed) / 1e9);
    }
    print(
        String.format(
            Locale.ROOT,
            "A member with them is ready %.1f s after kill -9, warm-up included, and healthy after"
                + " %.1f s; medians of %d.",
            ClusterFigures.median(ready, each -> each),
            ClusterFigures.median(healthy, each -> each),
            rounds));
  }
}
