package dev.weir.cluster;

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
record Seats(List<Member> voters, List<Member> listeners, boolean settled) {
  /*
   * How does a group come to other voters? One small step after the other, each of which the group
   * agrees on as on an entry: who is to come becomes a listener; who has all entries becomes a voter,
   * in exchange for one who is to go, if there is one; and when all who are wanted vote, the rest
   * goes. So there is never a voter that lacks what was decided, and never one less than before a
   * step, except at the end. Which step is next follows from the seats and from what is wanted, so
   * the next leader goes on where the one before stopped.
   */

  Seats {
    voters = List.copyOf(voters);
    listeners = List.copyOf(listeners);
  }

  static final Seats NONE = new Seats(List.of(), List.of(), true);

  boolean has(Member member) {
    return in(voters, member) || in(listeners, member);
  }

  boolean votes(Member member) {
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
  @Nullable Seats next(
      List<Member> wanted, Predicate<? super Member> present, Predicate<? super Member> caughtUp) {
    List<Member> kept = listeners.stream().filter(each -> in(wanted, each)).toList();
    if (kept.size() < listeners.size()) {
      return new Seats(voters, kept, true);
    }
    for (Member each : kept) {
      if (caughtUp.test(each)) {
        return promoted(each, wanted);
      }
    }
    for (Member each : wanted) {
      if (!has(each) && present.test(each)) {
        List<Member> more = new ArrayList<>(kept);
        more.add(each);
        return new Seats(voters, more, true);
      }
    }
    Member leaving = leaving(wanted, "");
    boolean all = wanted.stream().allMatch(this::votes);
    return all && leaving != null ? new Seats(without(voters, leaving), kept, true) : null;
  }

  /** Returns the voters that are wanted, in that order: who can lead when the leader is to go. */
  List<Member> staying(List<Member> wanted) {
    return wanted.stream().filter(this::votes).toList();
  }

  private Seats promoted(Member listener, List<Member> wanted) {
    // The only voter leads, and leaves when there is another to lead.
    Member leaving = voters.size() == 1 ? null : leaving(wanted, listener.name());
    List<Member> next = new ArrayList<>(leaving == null ? voters : without(voters, leaving));
    next.add(listener);
    return new Seats(next, without(listeners, listener), true);
  }

  /** Returns a voter who is not wanted, that of a name first; null if there is none. */
  private @Nullable Member leaving(List<Member> wanted, String name) {
    Member found = null;
    for (Member each : voters) {
      if (!in(wanted, each) && (found == null || each.name().equals(name))) {
        found = each;
      }
    }
    return found;
  }

  private static List<Member> without(List<Member> some, Member one) {
    return some.stream().filter(each -> !each.id().equals(one.id())).toList();
  }
}
