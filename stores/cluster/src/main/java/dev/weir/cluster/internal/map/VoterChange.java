package dev.weir.cluster.internal.map;

import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.ClusterStatus.MemberStatus;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.Seats;
import dev.weir.cluster.internal.peer.Member;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The reconciliation of one member's groups with the map, one step after the other. Used by one
 * thread, which may block.
 */
public final class VoterChange {
  /*
   * Who does what? Each member opens the groups that the map assigns to it, and leaves those in
   * which it does not vote any more by their leader's report. The leader of a group seats the
   * members that the map assigns. Each compares the present state with the map every second, so
   * nothing needs to be remembered, and the next leader finishes a step that one has left.
   */

  /**
   * The most entries by which a listener may be behind and still become a voter: the others go on
   * without it.
   */
  private static final long MOST_BEHIND = 1_000;

  /** The rounds after which a member that has just started surely has the newest map. */
  private static final int SURELY_MISSING = 5;

  private static final long STATUS_MILLIS = 2_000;

  /** The member's own groups. */
  public interface Place {
    /** Returns the log of a group; null if it is not open here. */
    @Nullable Ledger ledger(int group);

    /** Opens a group that the map assigns to this member. */
    void open(int group) throws IOException;

    /** Removes a group that this member leaves. */
    void close(int group) throws IOException;
  }

  private final Member self;
  private final CurrentMap map;
  private final Place place;
  private final Function<String, CompletionStage<MemberStatus>> status;
  private final Consumer<? super String> log;
  private final Map<String, @Nullable MemberStatus> asked = new HashMap<>();
  private String lastProblem = "";
  private int missing;

  /**
   * Creates the reconciliation.
   *
   * @param status returns the status of a member
   */
  public VoterChange(
      Member self,
      CurrentMap map,
      Place place,
      Function<String, CompletionStage<MemberStatus>> status,
      Consumer<? super String> log) {
    this.self = self;
    this.map = map;
    this.place = place;
    this.status = status;
    this.log = log;
  }

  /** Does the steps that are possible now; to be called each second. */
  public void round() {
    asked.clear();
    ClusterMap now = map.get();
    missing = now.has(self.name(), self.incarnation()) ? 0 : missing + 1;
    if (missing == SURELY_MISSING) {
      log.accept(
          "cluster: "
              + self.name()
              + " was removed, or has another folder in its place: this one takes no part any"
              + " more, and asks the others");
    }
    for (int group = 0; group < now.groups(); group++) {
      try {
        round(now, group);
      } catch (IOException | RuntimeException e) {
        problem("cluster: group " + group + ": " + e.getMessage());
      }
    }
  }

  private void problem(String line) {
    if (!line.equals(lastProblem)) {
      lastProblem = line;
      log.accept(line);
    }
  }

  private void round(ClusterMap now, int group) throws IOException {
    List<Member> wanted = now.replicas(group).stream().map(now::member).toList();
    boolean mine = wanted.stream().anyMatch(each -> each.id().equals(self.id()));
    Ledger ledger = place.ledger(group);
    if (ledger == null) {
      if (mine) {
        place.open(group);
      }
    } else if (ledger.leads()) {
      lead(group, ledger, wanted);
    } else if (!mine && leftOut(wanted, group)) {
      log.accept("cluster: group " + group + ": " + self.name() + " has it no more");
      place.close(group);
    }
  }

  private void lead(int group, Ledger ledger, List<Member> wanted) throws IOException {
    Seats seats = ledger.seats();
    if (!seats.settled()) {
      return;
    }
    Seats next =
        seats.next(
            wanted,
            each -> at(each, group) != null,
            each -> {
              GroupStatus there = at(each, group);
              return there != null && ledger.status().committed() - there.applied() <= MOST_BEHIND;
            });
    if (next == null) {
      return;
    }
    if (!next.votes(self)) {
      log.accept("cluster: group " + group + ": " + self.name() + " hands it over and leaves");
      handOver(ledger, seats.staying(wanted));
      return;
    }
    ledger.seat(next);
    log.accept("cluster: group " + group + ": " + difference(seats, next));
  }

  /**
   * Hands the leadership to one of the staying members, or else to any other voter, which continues
   * the change.
   */
  private static void handOver(Ledger ledger, List<Member> staying) throws IOException {
    for (Member each : staying) {
      try {
        ledger.transfer(each.name());
        return;
      } catch (IOException away) {
        // The next one may be up.
      }
    }
    ledger.transfer(null);
  }

  private static String difference(Seats before, Seats after) {
    StringBuilder words = new StringBuilder();
    for (Member each : after.listeners()) {
      append(words, before.has(each) ? "" : each.name() + " listens");
    }
    for (Member each : after.voters()) {
      append(words, before.votes(each) ? "" : each.name() + " votes");
    }
    for (Member each : before.voters()) {
      append(words, after.has(each) ? "" : each.name() + " of before is out");
    }
    for (Member each : before.listeners()) {
      append(words, after.has(each) ? "" : each.name() + " does not listen any more");
    }
    return words.toString();
  }

  private static void append(StringBuilder words, String more) {
    words.append(words.isEmpty() || more.isEmpty() ? "" : ", ").append(more);
  }

  /** Returns a member's replica; null if it has none, or another incarnation answers. */
  private @Nullable GroupStatus at(Member member, int group) {
    MemberStatus known = status(member.name());
    return known == null || !known.incarnation().equals(member.incarnation().toString())
        ? null
        : of(known, group);
  }

  private static @Nullable GroupStatus of(MemberStatus member, int group) {
    return member.groups().stream().filter(each -> each.group() == group).findFirst().orElse(null);
  }

  /** Returns whether the group has agreed that this member takes no part. */
  private boolean leftOut(List<Member> wanted, int group) {
    for (Member each : wanted) {
      GroupStatus there = at(each, group);
      if (there != null && there.leads() && there.settled()) {
        return !there.voters().contains(self.id()) && !there.listeners().contains(self.id());
      }
    }
    return false;
  }

  private @Nullable MemberStatus status(String member) {
    if (!asked.containsKey(member)) {
      asked.put(
          member,
          status
              .apply(member)
              .toCompletableFuture()
              .completeOnTimeout(null, STATUS_MILLIS, TimeUnit.MILLISECONDS)
              .exceptionally(error -> null)
              .join());
    }
    return asked.get(member);
  }
}
