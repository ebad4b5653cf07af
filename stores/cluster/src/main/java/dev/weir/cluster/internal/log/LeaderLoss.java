package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.Member;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The detection of a leader whose process has ended, after which the group elects another one at
 * once, without waiting for the election timeout. Safe for use by many threads.
 */
final class LeaderLoss {
  /*
   * How does a follower notice it, and which one stands? When a process ends, even by kill -9, its
   * system closes its connections and its port. So a follower takes the leader for gone if the
   * leader's side has ended the connection and its port refuses a new one: a network that cuts
   * connections does not do the second. It then asks the other voters whether they have lost the
   * same leader, and how far their logs go. If a majority has lost it, the one with the longest log
   * stands for election at once, and of equal ones the first by name. So no voter stands while
   * others still have the leader, two hardly ever stand, and none stands that the others would
   * refuse.
   *
   * A host that is gone closes nothing: then the election timeout applies. It also applies after
   * any failure here; there is no second attempt for the same leader and term. Raft allows an
   * election at any time: even if all voters are mistaken, that costs one election and nothing
   * else.
   */

  static final int KIND = PeerRpc.SNAPSHOT + 1;

  /** The pause between two rounds: the others notice the end some milliseconds earlier or later. */
  static final long PAUSE_MILLIS = 25;

  /** The most rounds: a second in all, the shortest election timeout by the default settings. */
  static final int MOST_ROUNDS = 40;

  /** A voter's view of the leaders. Must be safe for use by many threads. */
  interface Voter {
    /** Returns the groups that this member has. */
    Collection<Long> groups();

    /**
     * Returns the leader that this member follows in a group; null unless it votes there and
     * follows one.
     */
    @Nullable Leadership led(long group);

    /** Returns the last entry of this member's log; null if it has no log of that group. */
    @Nullable Last last(long group);

    /** Returns the names of all voters of a group. */
    Collection<String> voters(long group);

    /**
     * Stands for election in the term after that one, if this member still follows that leader.
     * Blocks.
     *
     * @return whether it does so
     */
    boolean stand(long group, Leadership led);
  }

  /**
   * A leader.
   *
   * @param leader its id, see {@link Member#id}
   */
  record Leadership(String leader, long term) {
    String name() {
      return Member.nameOf(leader);
    }
  }

  /** The end of a log. */
  record Last(long term, long index) {
    boolean isAfter(Last other) {
      return term == other.term ? index > other.index : term > other.term;
    }
  }

  private record LostLeader(long group, Leadership led) {}

  /** A voter that has lost the same leader. */
  private record Fellow(String name, Last last) {}

  /** The other members, as far as they are known here. */
  interface Others {
    /**
     * Sends a request to a member, which calls {@link LeaderLoss#answer}.
     *
     * @return completes on any thread, at the latest after some rounds
     */
    CompletionStage<byte[]> request(String member, byte[] question);

    /** Returns whether a member's process has ended. */
    boolean gone(String member);
  }

  private final String self;
  private final Voter voter;
  private final Others others;
  private final Executor executor;
  private final Executor later;
  private final Consumer<? super String> log;
  private final Set<LostLeader> asking = ConcurrentHashMap.newKeySet();

  /**
   * Creates the detection.
   *
   * @param executor may be blocked
   * @param later may be blocked; runs tasks {@link #PAUSE_MILLIS} later
   */
  LeaderLoss(
      String self,
      Voter voter,
      Others others,
      Executor executor,
      Executor later,
      Consumer<? super String> log) {
    this.self = self;
    this.voter = voter;
    this.others = others;
    this.executor = executor;
    this.later = later;
    this.log = log;
  }

  /** Notes that a member's process has ended. */
  void ended(String member) {
    executor.execute(
        () -> {
          for (long group : voter.groups()) {
            Leadership led = voter.led(group);
            if (led != null && led.name().equals(member)) {
              LostLeader lost = new LostLeader(group, led);
              if (asking.add(lost)) {
                round(lost, MOST_ROUNDS);
              }
            }
          }
        });
  }

  private boolean lost(LostLeader lost) {
    return others.gone(lost.led.name()) && lost.led.equals(voter.led(lost.group));
  }

  private void round(LostLeader lost, int roundsLeft) {
    if (roundsLeft == 0 || !lost(lost)) {
      asking.remove(lost);
      return;
    }
    byte[] question =
        new ByteWriter()
            .writeNumber(lost.group)
            .writeText(lost.led.leader)
            .writeNumber(lost.led.term)
            .toBytes();
    Collection<String> voters = voter.voters(lost.group);
    List<CompletableFuture<@Nullable Fellow>> asked = new ArrayList<>();
    for (String each : voters) {
      if (!each.equals(self) && !each.equals(lost.led.name())) {
        asked.add(
            others
                .request(each, question)
                .handle((reply, problem) -> reply == null ? null : read(each, reply))
                .toCompletableFuture());
      }
    }
    Object unused =
        CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new))
            .thenRunAsync(() -> decide(lost, roundsLeft, voters.size(), fellows(asked)), executor);
  }

  private static List<Fellow> fellows(List<CompletableFuture<@Nullable Fellow>> asked) {
    List<Fellow> found = new ArrayList<>();
    for (CompletableFuture<@Nullable Fellow> each : asked) {
      Fellow one = each.join();
      if (one != null) {
        found.add(one);
      }
    }
    return found;
  }

  private void decide(LostLeader lost, int roundsLeft, int voters, List<Fellow> fellows) {
    Last own = voter.last(lost.group);
    boolean majority = 2 * (fellows.size() + 1) > voters;
    if (own == null || !majority || fellows.stream().anyMatch(each -> isBefore(each, own))) {
      later.execute(() -> round(lost, roundsLeft - 1));
      return;
    }
    try {
      if (lost(lost) && voter.stand(lost.group, lost.led)) {
        log.accept(
            "cluster: "
                + lost.led.name()
                + ", which led group "
                + lost.group
                + ", has ended: this member stands for election");
      }
    } finally {
      asking.remove(lost);
    }
  }

  private boolean isBefore(Fellow other, Last own) {
    return other.last.isAfter(own) || (other.last.equals(own) && other.name.compareTo(self) < 0);
  }

  /** Answers another voter: whether this one has lost that leader too, and where its log ends. */
  byte[] answer(byte[] question) {
    ByteReader in = new ByteReader(question, 0);
    long group = in.readNumber();
    LostLeader lost = new LostLeader(group, new Leadership(in.readText(), in.readNumber()));
    Last last = lost(lost) ? voter.last(group) : null;
    return last == null
        ? new byte[0]
        : new ByteWriter().writeNumber(last.term).writeNumber(last.index).toBytes();
  }

  private static @Nullable Fellow read(String from, byte[] reply) {
    if (reply.length == 0) {
      return null;
    }
    try {
      ByteReader in = new ByteReader(reply, 0);
      return new Fellow(from, new Last(in.readNumber(), in.readNumber()));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
