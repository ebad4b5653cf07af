package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.peer.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Who takes part in the log of one group. Immutable.
 *
 * @param voters of whom a majority decides
 * @param listeners who are sent all of it, and do not count
 * @param settled whether a majority has agreed on these, and no change is under way
 */
public record Seats(List<Member> voters, List<Member> listeners, boolean settled) {
  /*
   * How does a group come to other voters? One small step after the other, each of which the group
   * agrees on as on an entry: who is to come becomes a listener; who has all entries becomes one more
   * voter; then one who is to go goes. So there is never a voter that lacks what was decided, and
   * never fewer voters than before or than wanted. Voters are not exchanged in one step: a majority
   * of those before one step and one of those after it always have a member in common, so it does
   * not matter which of the two a new leader goes by. Which step is next follows from the seats and
   * from what is wanted, so the next leader goes on where the one before stopped.
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
   * Returns the seats after the next step; null if nothing is to be done, or nothing can be.
   *
   * @param wanted who is to vote
   * @param present whether a member has opened the group
   * @param caughtUp whether a listener has about all entries
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

  /** Returns the voters that are wanted, in that order: who can lead when the leader is to go. */
  public List<Member> staying(List<Member> wanted) {
    return wanted.stream().filter(this::votes).toList();
  }

  /** Returns a voter who is not wanted, one whose folder was lost first; null if there is none. */
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
