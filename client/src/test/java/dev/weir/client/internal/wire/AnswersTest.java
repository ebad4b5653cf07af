package dev.weir.client.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.protocol.v1.WeirProto;
import dev.weir.protocol.v1.WeirProto.CheckResult;
import dev.weir.protocol.v1.WeirProto.DescriptorStatus;
import org.junit.jupiter.api.Test;

/** The cause of UNCERTAIN in messages of the service. */
class AnswersTest {
  private static Answer read(DescriptorStatus.Builder status) {
    CheckResult result =
        CheckResult.newBuilder()
            .addStatuses(
                status
                    .setCode(WeirProto.Code.CODE_OVER_LIMIT)
                    .setPolicy("p")
                    .setLimit(5)
                    .setWindowMs(1_000))
            .build();
    return new Answers().of(result, 1, 0);
  }

  @Test
  void cause_isPassedOn() {
    Answer answer =
        read(
            DescriptorStatus.newBuilder()
                .setReason(WeirProto.Reason.REASON_UNCERTAIN)
                .setCause("timeout"));
    assertThat(answer.reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(answer.cause()).isEqualTo("timeout");
  }

  @Test
  void causeOfAnOlderService_isNotKnown() {
    assertThat(
            read(DescriptorStatus.newBuilder().setReason(WeirProto.Reason.REASON_UNCERTAIN))
                .cause())
        .isEmpty();
  }

  @Test
  void causeOfAnotherReason_isIgnored() {
    assertThat(
            read(DescriptorStatus.newBuilder()
                    .setReason(WeirProto.Reason.REASON_OVER_LIMIT)
                    .setCause("timeout"))
                .statuses())
        .extracting(Status::cause)
        .containsExactly("");
  }

  @Test
  void reasonOfANewerService_isTheCause() {
    Answer answer = read(DescriptorStatus.newBuilder().setReasonValue(99));
    assertThat(answer.reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(answer.cause()).isEqualTo("unknown_reason");
  }

  @Test
  void serviceAway_isTheCause_ofUncertainAlone() {
    assertThat(Answers.unknown(false, Reason.UNCERTAIN, null, 0).cause()).isEqualTo("upstream");
    assertThat(Answers.unknown(false, Reason.OVERLOADED, null, 0).cause()).isEmpty();
  }
}
