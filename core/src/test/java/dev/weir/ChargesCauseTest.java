package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The cause of an UNCERTAIN result, as charges, batches and decisions carry it. */
class ChargesCauseTest {
  private record Rule(String name, Policy policy, Store store) implements Binding {}

  private static final Policy POLICY = Policy.builder(Quota.perSecond(1)).build();
  private static final Binding RULE = new Rule("rule", POLICY, new MemoryStore());

  private static void uncertain(Charges charges, int i, String cause) {
    charges.result(i, Reason.UNCERTAIN, 0, 1, 0, 0);
    charges.cause(i, cause);
  }

  @Test
  void cause_isOfItsChargeAndDecisionAlone() {
    Charges charges = new Charges().add(RULE, 1, 1).add(RULE, 2, 1).add(RULE, 3, 1);
    charges.result(0, Reason.WITHIN_LIMIT, 0, 0, 0, 0);
    uncertain(charges, 1, "timeout");
    charges.result(2, Reason.WITHIN_LIMIT, 0, 0, 0, 0);
    assertThat(charges.cause(0)).isEmpty();
    assertThat(charges.cause(1)).isEqualTo("timeout");
    assertThat(charges.cause(2)).isEmpty();
    assertThat(charges.decision(1).cause()).isEqualTo("timeout");
    assertThat(charges.decision(2).cause()).isEmpty();
  }

  @Test
  void newResult_hasNoCause() {
    Charges charges = new Charges().add(RULE, 1, 1);
    uncertain(charges, 0, "timeout");
    charges.result(0, Reason.UNCERTAIN, 0, 1, 0, 0);
    assertThat(charges.cause(0)).isEmpty();
  }

  @Test
  void clearedCharges_haveNoCause() {
    Charges charges = new Charges().add(RULE, 1, 1);
    uncertain(charges, 0, "timeout");
    assertThat(charges.clear().add(RULE, 1, 1).cause(0)).isEmpty();
  }

  @Test
  void chargesThatGrow_keepTheirCauses() {
    Charges charges = new Charges().add(RULE, 1, 1);
    uncertain(charges, 0, "timeout");
    charges.add(RULE, 2, 1).add(RULE, 3, 1);
    assertThat(charges.cause(2)).isEmpty();
    uncertain(charges, 2, "open");
    charges.result(1, Reason.WITHIN_LIMIT, 0, 0, 0, 0);
    assertThat(charges.cause(0)).isEqualTo("timeout");
    assertThat(charges.cause(1)).isEmpty();
    assertThat(charges.cause(2)).isEqualTo("open");
  }

  @Test
  void copiedResult_hasItsCause() {
    Charges part = new Charges().add(RULE, 1, 1);
    part.result(0, Reason.UNCERTAIN, 1, 2, 3, 4);
    part.cause(0, "open");
    Charges whole = new Charges().add(RULE, 7, 1).add(RULE, 1, 1);
    whole.result(1, part, 0);
    assertThat(whole.decision(1)).isEqualTo(part.decision(0));
    assertThat(whole.cause(1)).isEqualTo("open");
  }

  @Test
  void throttledDecision_keepsTheCause() {
    Policy elastic = Policy.builder(Quota.perSecond(1)).throttle(Throttle.elastic(0.5)).build();
    Decision decided =
        new Decision(false, Reason.UNCERTAIN, "timeout", "default", 1, 0, 1, 0, 0, List.of());
    assertThat(elastic.throttled(decided, true).cause()).isEqualTo("timeout");
    assertThat(elastic.throttled(decided, false).cause()).isEqualTo("timeout");
  }

  @Test
  void decisionWithoutACause_isAnotherOne() {
    Decision state =
        new Decision(false, Reason.UNCERTAIN, "state", "default", 1, 0, 1, 0, 0, List.of());
    Decision none = new Decision(false, Reason.UNCERTAIN, "default", 1, 0, 1, 0, 0);
    assertThat(none.cause()).isEmpty();
    assertThat(state).isNotEqualTo(none);
  }

  @Test
  void batch_hasACauseForEachRequest_untilItIsCleared() {
    Batch batch = new Batch(1).add(RULE, 1, 1).add(RULE, 2, 1);
    assertThat(batch.cause(1)).isEmpty();
    batch.cause(1, "open");
    assertThat(batch.cause(0)).isEmpty();
    assertThat(batch.cause(1)).isEqualTo("open");
    batch.clear().add(RULE, 1, 1).add(RULE, 2, 1);
    assertThat(batch.cause(1)).isEmpty();
  }
}
