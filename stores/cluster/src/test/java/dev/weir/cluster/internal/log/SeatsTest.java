package dev.weir.cluster.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.internal.map.Maps;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Changes from the present seats to the wanted ones, one step after the other. */
class SeatsTest {
  private static final Member A = Maps.member("a", "");
  private static final Member B = Maps.member("b", "");
  private static final Member C = Maps.member("c", "");
  private static final Member D = Maps.member("d", "");
  private static final Member C_ANEW = new Member("c", "127.0.0.1", 7946, new UUID(8, 8), "");

  private static Seats voters(Member... voters) {
    return new Seats(List.of(voters), List.of(), true);
  }

  private static @Nullable Seats next(Seats seats, Member... wanted) {
    return seats.next(List.of(wanted), each -> true, each -> true);
  }

  @Test
  void right_staysAsItIs() {
    assertThat(next(voters(A, B, C), C, A, B)).isNull();
  }

  @Test
  void newMember_listensFirst_andThenVotes() {
    Seats listening = next(voters(A, B), A, B, C);
    assertThat(listening).isEqualTo(new Seats(List.of(A, B), List.of(C), true));
    assertThat(next(Objects.requireNonNull(listening), A, B, C)).isEqualTo(voters(A, B, C));
  }

  @Test
  void lostFolder_votesAnew_andThenItsOldSelfGoes() {
    Seats listening = next(voters(A, B, C), A, B, C_ANEW);
    assertThat(listening).isEqualTo(new Seats(List.of(A, B, C), List.of(C_ANEW), true));
    Seats four = next(Objects.requireNonNull(listening), A, B, C_ANEW);
    assertThat(four).isEqualTo(voters(A, B, C, C_ANEW));
    assertThat(next(Objects.requireNonNull(four), A, B, C_ANEW)).isEqualTo(voters(A, B, C_ANEW));
  }

  @Test
  void ofTwoThatAreToGo_theOneWhoseFolderIsLostGoesFirst() {
    assertThat(next(voters(A, B, C, C_ANEW), A, C_ANEW, D)).isEqualTo(voters(A, B, C_ANEW));
  }

  @Test
  void listenerThatLags_doesNotVote_andNobodyLeavesBefore() {
    Seats listening = new Seats(List.of(A, B, C), List.of(D), true);
    assertThat(listening.next(List.of(A, B, D), each -> true, each -> false)).isNull();
  }

  @Test
  void memberThatIsNotThere_doesNotHoldUpTheOthers() {
    Seats one = voters(A).next(List.of(A, B, C), each -> each.equals(C), each -> false);
    assertThat(one).isEqualTo(new Seats(List.of(A), List.of(C), true));
  }

  @Test
  void listenerThatIsNotWantedAnyMore_goes() {
    assertThat(next(new Seats(List.of(A, B), List.of(D), true), A, B)).isEqualTo(voters(A, B));
  }

  /** A leader that has to leave cannot hand over to a listener. */
  @Test
  void leaderThatIsToGo_handsOverToAVoterThatStays() {
    Seats seats = new Seats(List.of(A, B, C), List.of(D), true);
    assertThat(seats.staying(List.of(D, C, A))).containsExactly(C, A);
  }

  /** Otherwise the leader would wait for a voter to which it can hand over. */
  @Test
  void onlyVoter_isJoinedByAnother_beforeItLeaves() {
    Seats both = next(new Seats(List.of(A), List.of(B), true), B);
    assertThat(both).isEqualTo(voters(A, B));
    assertThat(next(Objects.requireNonNull(both), B)).isEqualTo(voters(B));
  }

  /** From any seats to any others: each step is small, and no step has fewer voters than needed. */
  @Test
  void randomChanges_end_andNeverLoseAMajority() {
    int runs = 2_000;
    SplittableRandom random = Trials.random("seats", runs);
    for (int i = 0; i < runs; i++) {
      Seats seats = new Seats(some(random), List.of(), true);
      List<Member> wanted = some(random);
      int least = Math.min(seats.voters().size(), wanted.size());
      for (int steps = 0; ; steps++) {
        assertThat(steps).isLessThan(20);
        Seats next = seats.next(wanted, each -> true, each -> true);
        if (next == null) {
          break;
        }
        List<Member> voters = seats.voters();
        long kept = next.voters().stream().filter(voters::contains).count();
        assertThat(next.voters().size() + voters.size() - 2 * kept)
            .as("voters that come or go in one step")
            .isLessThan(2);
        assertThat(next.voters().size()).isGreaterThanOrEqualTo(least);
        for (Member each : next.voters()) {
          assertThat(seats.has(each)).as("%s was sent the log before it votes", each).isTrue();
        }
        seats = next;
      }
      assertThat(seats.voters()).containsExactlyInAnyOrderElementsOf(wanted);
      assertThat(seats.listeners()).isEmpty();
    }
  }

  private static List<Member> some(SplittableRandom random) {
    List<Member> all = new ArrayList<>(List.of(A, B, C, D, C_ANEW));
    for (int i = random.nextInt(1, 5); all.size() > i; ) {
      all.remove(random.nextInt(all.size()));
    }
    return all;
  }
}
