package dev.weir.siege.cluster;

import dev.weir.siege.Complaints;
import dev.weir.siege.SiegeRule;
import dev.weir.siege.Target;
import dev.weir.siege.faults.ClusterFault;
import dev.weir.siege.guests.Protocol;
import dev.weir.siege.soak.Visitor;
import dev.weir.siege.soak.Visitors;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * A siege of a cluster of real processes: clients of every protocol send requests to every member
 * while faults strike. Each round is one fault, the healing after it, and a check of all answers.
 * Not safe for use by several threads.
 */
public final class ClusterSiege implements AutoCloseable {
  /** The least time that members wait for a silent leader; the most is twice as long. */
  static final long ELECTION_MILLIS = 500;

  /** The time of requests before and after a fault, in addition to the healing. */
  private static final long CALM_MILLIS = 250;

  private static final long MOMENT_MILLIS = 10;

  // Faster clients would use up a small machine, on which members then start slowly.
  private static final Visitor.Pace PACE =
      Visitor.Pace.resting(Duration.ofMillis(30), Duration.ofMillis(50));
  private static final Visitor.Pace KEYS_PACE =
      Visitor.Pace.resting(Duration.ofMillis(30), Duration.ofMillis(30));

  private static final List<Protocol> PROTOCOLS =
      List.of(Protocol.HTTP, Protocol.GRPC, Protocol.CHECK);

  /**
   * The result of a round.
   *
   * @param healNanos the time from the end of the fault, or from the restart of ended members,
   *     until each member has admitted a request for a fresh key
   */
  public record Outcome(
      ClusterFault fault,
      ClusterHistory.Judgement judgement,
      Accounts.Balance balance,
      SingleKeys.Judgement keys,
      long healNanos) {
    /** Returns the permits beyond a rule's limit that some window certainly holds. */
    long excess(SiegeRule rule) {
      return judgement.excess().getOrDefault(rule, 0L);
    }

    /** Returns the promises that did not hold. */
    List<String> broken() {
      List<String> broken = new ArrayList<>();
      for (SiegeRule each : ClusterRules.LIMITS) {
        if (excess(each) > 0) {
          broken.add(each + ": " + excess(each) + " permits beyond the limit");
        }
      }
      if (balance.forgotten() > 0) {
        broken.add(balance.forgotten() + " permits were admitted and are forgotten");
      }
      if (balance.twice() > 0) {
        broken.add(balance.twice() + " permits are charged and were not asked for");
      }
      if (keys.wrong() != null) {
        broken.add("not decided one after the other: " + keys.wrong());
      }
      return broken;
    }
  }

  private final ClusterSite site;
  private final Members members;
  private final SplittableRandom random;
  private final ClusterHistory history = new ClusterHistory();
  private final Visitors visitors = new Visitors(new Complaints());
  private final SingleKeys keys = new SingleKeys();
  private boolean broken;
  private int keysJudged;

  private ClusterSiege(ClusterSite site, SplittableRandom random) {
    this.site = site;
    this.members = site.members();
    this.random = random;
  }

  /**
   * Starts the members, and clients that send requests for those rules; returns when each member
   * has admitted a request.
   */
  public static ClusterSiege start(ClusterSite site, List<SiegeRule> rules, SplittableRandom random)
      throws IOException, InterruptedException {
    Members members = site.members();
    ClusterSiege siege = new ClusterSiege(site, random);
    try {
      members.start();
      members.awaitHealthy();
      for (MemberProcess member : members.every()) {
        siege.visit(member, rules);
      }
      siege.heal();
      ClusterHistory.Judgement unused = siege.history.judge();
      return siege;
    } catch (IOException | InterruptedException | RuntimeException e) {
      siege.close();
      throw e;
    }
  }

  private void visit(MemberProcess member, List<SiegeRule> rules) {
    for (Protocol protocol : PROTOCOLS) {
      SplittableRandom own = random.split();
      visitors.add(protocol, member::target, PACE, () -> ClusterErrand.any(history, rules, own));
    }
    SplittableRandom own = random.split();
    visitors.add(Protocol.CHECK, member::target, KEYS_PACE, () -> keys.next(own));
  }

  /** Returns the number of keys whose whole history was judged. */
  public int keysJudged() {
    return keysJudged;
  }

  /** Returns all faults that can happen. */
  List<ClusterFault> faults() {
    return site.faults();
  }

  /**
   * Makes a fault strike, waits until the cluster is healthy again, and checks all answers.
   *
   * @throws IOException if it does not become healthy, or the replicas differ; then no other round
   *     can follow
   */
  public Outcome round(ClusterFault fault) throws IOException, InterruptedException {
    if (broken) {
      throw new IOException("not tried: a fault before it did not heal");
    }
    broken = true;
    TimeUnit.MILLISECONDS.sleep(CALM_MILLIS);
    fault.strike(members, random, ELECTION_MILLIS);
    long healed = heal();
    members.awaitHealthy();
    TimeUnit.MILLISECONDS.sleep(CALM_MILLIS);
    members.verify();
    Outcome outcome = new Outcome(fault, history.judge(), balance(), keys.judge(), healed);
    keysJudged += outcome.keys().judged();
    broken = false;
    return outcome;
  }

  /** Compares the permits that clients were given with those that members have charged. */
  private Accounts.Balance balance() throws IOException, InterruptedException {
    Target member = Objects.requireNonNull(members.any().target());
    return history.accounts().balance(member, Members.LONGEST);
  }

  /**
   * Waits until each member admits a request for a fresh key, and returns the time that it took.
   */
  private long heal() throws IOException, InterruptedException {
    long begin = System.nanoTime();
    for (MemberProcess member : members.all()) {
      while (!members.admits(member)) {
        if (System.nanoTime() - begin > Members.LONGEST.toNanos()) {
          throw new IOException(
              member.name() + ": admits nothing within " + Members.LONGEST + members.logs());
        }
        TimeUnit.MILLISECONDS.sleep(MOMENT_MILLIS);
      }
    }
    return System.nanoTime() - begin;
  }

  @Override
  public void close() {
    members.close(); // Clients closed first would wait for answers.
    visitors.close();
    site.close();
  }
}
