package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.peer.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The members that replicate one group's log. Immutable.
 *
 * @param voters of whom a majority decides
 * @param listeners that receive all of it, and do not count
 * @param settled whether a majority has agreed on these, and no change is in progress
 */
public record Seats(List<Member> voters, List<Member> listeners, boolean settled) {
  /*
   * How does a group change its voters? In small steps, on each of which the group agrees like on
   * an entry: a new member becomes a listener; when it has all entries, it becomes one more voter;
   * then a voter that is not wanted any more is removed. So every voter has all decided entries,
   * and there are always at least as many voters as before or as wanted. Voters are not exchanged
   * in one step: a majority before a step and a majority after it always have a member in common,
   * so it does not matter which of the two a new leader uses. The next step follows from the seats
   * and from the wanted ones, so the next leader goes on where the one before stopped.
   */

  public Seats {
    voters = List.copyOf(voters);
    listeners = List.copyOf(listeners);
  }

  static final Seats NONE = new Seats(List.of(), List.of(), true);

  public boolean has(Member member) {
    return in(voters, member) || in(listeners, member);
  }

  public boolean votes(Member member) {
    return in(voters, member);
  }

  private static boolean in(List<Member> some, Member member) {
    return some.stream().anyMatch(each -> each.id().equals(member.id()));
  }

  /**
   * Returns the seats after the next step; null if there is none, or none is possible.
   *
   * @param wanted the members that should vote
   * @param present returns whether a member has opened the group
   * @param caughtUp returns whether a listener has about all entries
   */
  @Nullable
  public Seats next(
      List<Member> wanted, Predicate<? super Member> present, Predicate<? super Member> caughtUp) {
    List<Member> kept = listeners.stream().filter(each -> in(wanted, each)).toList();
    if (kept.size() < listeners.size()) {
      return new Seats(voters, kept, true);
    }
    Member leaving = leaving(wanted);
    if (leaving != null && voters.size() > wanted.size()) {
      return new Seats(without(voters, leaving), kept, true);
    }
    for (Member each : kept) {
      if (caughtUp.test(each)) {
        List<Member> more = new ArrayList<>(voters);
        more.add(each);
        return new Seats(more, without(kept, each), true);
      }
    }
    for (Member each : wanted) {
      if (!has(each) && present.test(each)) {
        List<Member> more = new ArrayList<>(kept);
        more.add(each);
        return new Seats(voters, more, true);
      }
    }
    return null;
  }

  /** Returns the wanted voters, in that order: those that can lead when the leader has to leave. */
  public List<Member> staying(List<Member> wanted) {
    return wanted.stream().filter(this::votes).toList();
  }

  /** Returns a voter that is not wanted, first one whose folder was lost; null if there is none. */
  private @Nullable Member leaving(List<Member> wanted) {
    Member found = null;
    for (Member each : voters) {
      boolean lost = wanted.stream().anyMatch(other -> other.name().equals(each.name()));
      if (!in(wanted, each) && (found == null || lost)) {
        found = each;
      }
    }
    return found;
  }

  private static List<Member> without(List<Member> some, Member one) {
    return some.stream().filter(each -> !each.id().equals(one.id())).toList();
  }
}
