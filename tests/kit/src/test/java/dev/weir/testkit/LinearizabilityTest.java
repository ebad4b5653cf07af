package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.testkit.Linearizability.Call;
import dev.weir.testkit.Linearizability.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LinearizabilityTest {
  private static final int LIMIT = 3;
  private static final Policy POLICY = Policy.of(Quota.of(LIMIT, Duration.ofDays(1)));

  private static boolean holds(Call... history) {
    return Linearizability.holds(List.of(history), POLICY);
  }

  private static Call admitted(long start, long end, long permits) {
    return new Call(start, end, permits, Outcome.ADMITTED);
  }

  private static Call refused(long start, long end, long permits) {
    return new Call(start, end, permits, Outcome.REFUSED);
  }

  private static Call unknown(long start, long permits) {
    return new Call(start, 0, permits, Outcome.UNKNOWN);
  }

  @Test
  void oneAfterTheOther_asManyAsFit_holds() {
    assertThat(holds(admitted(0, 1, 1), admitted(2, 3, 2), refused(4, 5, 1))).isTrue();
  }

  @Test
  void oneTooMany_isFound() {
    assertThat(holds(admitted(0, 9, 2), admitted(0, 9, 2))).isFalse();
  }

  @Test
  void refusalOfWhatFits_isFound() {
    assertThat(holds(admitted(0, 1, 1), refused(2, 3, 2))).isFalse();
  }

  @Test
  void refusalBesideWhatFillsTheLimit_holds_beforeIt_isFound() {
    assertThat(holds(refused(0, 5, 2), admitted(4, 9, 2))).isTrue();
    assertThat(holds(refused(0, 3, 2), admitted(4, 9, 2))).isFalse();
  }

  @Test
  void unknown_mayHaveHappenedOrNot_butNotBeforeItWasAsked() {
    assertThat(holds(unknown(0, 3), refused(5, 6, 1))).isTrue();
    assertThat(holds(unknown(0, 3), admitted(5, 6, 3))).isTrue();
    assertThat(holds(refused(5, 6, 1), unknown(7, 3))).isFalse();
  }

  @Test
  void unknown_mayBeGivenBack_butOnce() {
    assertThat(holds(unknown(0, 3), refused(2, 3, 1), admitted(4, 5, 3))).isTrue();
    assertThat(holds(unknown(0, 3), refused(2, 3, 1), admitted(4, 5, 1), refused(6, 7, 1)))
        .isFalse();
    assertThat(
            holds(
                unknown(0, 3),
                refused(2, 3, 1),
                admitted(4, 5, 3),
                refused(6, 7, 1),
                admitted(8, 9, 1)))
        .isFalse();
  }

  @Test
  void moreCallsThanCanBeJudged_areRefused() {
    List<Call> many = Collections.nCopies(Linearizability.MOST_CALLS + 1, unknown(0, 1));
    assertThatThrownBy(() -> Linearizability.holds(many, POLICY))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("history: 65 calls (expected: at most 64)");
  }

  /**
   * Checks that answers given in some order hold, and that a history in order with one answer
   * reversed does not.
   */
  @Test
  void histories_thatWereDecidedInAnOrder_hold_andThoseTurnedDoNot() {
    int runs = 200;
    SplittableRandom random = Trials.random("linearizability", runs);
    Policy policy = Policy.of(Quota.of(20, Duration.ofDays(1)));
    for (int round = 0; round < runs; round++) {
      List<Call> inOrder = new ArrayList<>();
      List<Call> beside = new ArrayList<>();
      Oracle oracle = Oracle.of(policy);
      for (long at = 0; at < 40; at++) {
        int permits = random.nextInt(1, 4);
        boolean fits = oracle.decide("key", 0, permits).allowed();
        Outcome outcome = fits ? Outcome.ADMITTED : Outcome.REFUSED;
        inOrder.add(new Call(4 * at, 4 * at + 1, permits, outcome));
        long start = 4 * at - random.nextInt(20);
        long end = 4 * at + random.nextInt(20);
        boolean lost = random.nextInt(10) == 0;
        beside.add(new Call(start, end, permits, lost ? Outcome.UNKNOWN : outcome));
      }
      assertThat(Linearizability.holds(inOrder, policy)).isTrue();
      assertThat(Linearizability.holds(beside, policy)).as("%s", beside).isTrue();
      int turned = random.nextInt(inOrder.size());
      Call call = inOrder.get(turned);
      Outcome other = call.outcome() == Outcome.ADMITTED ? Outcome.REFUSED : Outcome.ADMITTED;
      inOrder.set(turned, new Call(call.startNanos(), call.endNanos(), call.permits(), other));
      assertThat(Linearizability.holds(inOrder, policy)).as("call %d turned", turned).isFalse();
    }
  }
}
