package dev.weir.siege;

import dev.weir.siege.cluster.ClusterSiege;
import dev.weir.siege.cluster.ClusterSite;
import dev.weir.siege.faults.ClusterFault;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A runner of sieges at several sites, two at a time: most of a round is waiting. */
public final class SideBySide implements AutoCloseable {
  private static final int AT_A_TIME = 2;
  private static final long CLOSES_MINUTES = 5;

  /** A fault, and the future result of its round. */
  public record Round(ClusterFault fault, CompletableFuture<ClusterSiege.Outcome> outcome) {}

  /**
   * A siege.
   *
   * @param keys the number of keys whose whole history was judged, available when all rounds are
   *     over
   */
  public record Siege(List<Round> rounds, CompletableFuture<Integer> keys) {}

  private final ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME);
  private final List<SiegeRule> rules;

  public SideBySide(List<SiegeRule> rules) {
    this.rules = rules;
  }

  /**
   * Begins a siege in which faults strike a site in turn, as soon as there is a thread for it.
   *
   * @param faults some of the site's
   */
  public Siege begin(ClusterSite site, List<ClusterFault> faults, SplittableRandom random) {
    List<Round> rounds = new ArrayList<>();
    faults.forEach(fault -> rounds.add(new Round(fault, new CompletableFuture<>())));
    Siege begun = new Siege(rounds, new CompletableFuture<>());
    var unused = threads.submit(() -> run(site, begun, random));
    return begun;
  }

  private void run(ClusterSite site, Siege begun, SplittableRandom random) {
    try (ClusterSiege siege = ClusterSiege.start(site, rules, random)) {
      for (Round each : begun.rounds) {
        try {
          each.outcome.complete(siege.round(each.fault));
        } catch (Exception e) {
          each.outcome.completeExceptionally(e);
        }
      }
      begun.keys.complete(siege.keysJudged());
    } catch (Exception e) {
      begun.rounds.forEach(each -> each.outcome.completeExceptionally(e));
      begun.keys.completeExceptionally(e);
    }
  }

  /** Waits until all sieges are over. */
  @Override
  public void close() {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(CLOSES_MINUTES, TimeUnit.MINUTES)) {
        throw new IllegalStateException("sieges: still under way");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
