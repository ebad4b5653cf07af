package dev.weir.shared.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.FailureMode;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.shared.Bindings;
import dev.weir.shared.Counters;
import dev.weir.shared.Failure;
import dev.weir.shared.Result;
import dev.weir.shared.SharedBinding;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class FailureDecisionsTest {
  private final FailureDecisions decisions = new FailureDecisions(new Counters());

  /** Returns a binding with two permits here, if the failure mode is local. */
  private SharedBinding binding(FailureMode answer, String name) {
    Policy policy =
        Policy.builder(Quota.perSecond(2)).sharing(Sharing.STRICT.onFailure(answer)).build();
    return binding(name, policy, decisions.bind(name, policy, 0));
  }

  private static SharedBinding binding(String name, Policy policy, @Nullable Binding local) {
    return Bindings.of(name, policy, local, null);
  }

  private Charges decide(Charges charges) {
    decisions.decide(charges, Failure.TIMEOUT, 1);
    return charges;
  }

  /** A local charge of 2 permits fits, one of 3 does not. */
  @ParameterizedTest
  @CsvSource({
    "DENY, REQUIRED, 1, false",
    "DENY, ANY, 1, false",
    "DENY, OPTIONAL, 1, true",
    "ALLOW, REQUIRED, 1, true",
    "ALLOW, ANY, 1, true",
    "ALLOW, OPTIONAL, 1, true",
    "LOCAL, REQUIRED, 2, true",
    "LOCAL, REQUIRED, 3, false",
    "LOCAL, ANY, 2, true",
    "LOCAL, ANY, 3, false",
    "LOCAL, OPTIONAL, 3, true",
    "ALLOW, REQUIRED, -1, false",
    "ALLOW, ANY, -1, false",
    "ALLOW, OPTIONAL, -1, false"
  })
  void eachCharge_isAnsweredAsItsPolicySays(
      FailureMode answer, Role role, long permits, boolean allowed) {
    Charges charges = decide(new Charges().add(binding(answer, "one"), 1, permits, role));

    assertThat(charges.allowed()).isEqualTo(allowed);
    Reason unknown = permits < 0 ? Reason.INVALID : Reason.UNCERTAIN;
    Reason local = permits > 2 ? Reason.OVER_LIMIT : Reason.WITHIN_LIMIT;
    assertThat(charges.reason(0)).isEqualTo(answer == FailureMode.LOCAL ? local : unknown);
  }

  @ParameterizedTest
  @EnumSource
  void kindOfFailure_isTheCause(Failure failure) {
    Charges many = new Charges();
    for (FailureMode mode : FailureMode.values()) {
      many.add(binding(mode, mode.name()), 1, 1);
    }
    decisions.decide(many, failure, 1);
    boolean uncertain = failure != Failure.OVERLOADED;
    Reason reason = uncertain ? Reason.UNCERTAIN : Reason.OVERLOADED;
    String cause = uncertain ? failure.text() : "";
    for (int i = 0; i < many.size(); i++) {
      boolean local = many.binding(i).policy().sharing().onFailure() == FailureMode.LOCAL;
      assertThat(many.reason(i)).isEqualTo(local ? Reason.WITHIN_LIMIT : reason);
      assertThat(many.cause(i)).isEqualTo(local ? "" : cause);
    }
    List<Result> one = new ArrayList<>();
    decisions.decide(binding(FailureMode.DENY, "one"), 1, 1, failure, 1, one::add);
    decisions.decide(binding(FailureMode.LOCAL, "local"), 1, 1, failure, 1, one::add);
    assertThat(one).extracting(Result::cause).containsExactly(cause, "");
    assertThat(one).extracting(Result::reason).containsExactly(reason, Reason.WITHIN_LIMIT);
  }

  @ParameterizedTest
  @CsvSource({
    "DENY, REQUIRED, LOCAL, REQUIRED, false, 2",
    "ALLOW, REQUIRED, LOCAL, REQUIRED, true, 1",
    "DENY, ANY, LOCAL, ANY, true, 1",
    "ALLOW, ANY, LOCAL, ANY, true, 1",
    "DENY, OPTIONAL, LOCAL, REQUIRED, true, 1",
    "DENY, ANY, LOCAL, OPTIONAL, false, 2",
  })
  void requestOfTwo_isChargedHereOnlyIfItPasses(
      FailureMode first,
      Role firstRole,
      FailureMode second,
      Role secondRole,
      boolean allowed,
      long left) {
    SharedBinding local = binding(second, "two");
    Charges charges =
        decide(
            new Charges().add(binding(first, "one"), 1, 1, firstRole).add(local, 1, 1, secondRole));

    assertThat(charges.allowed()).isEqualTo(allowed);
    Charges looking = decide(new Charges().add(local, 1, 0).peek());
    assertThat(looking.remaining(0)).isEqualTo(left);
  }

  @Test
  void looking_chargesNothingHere() {
    SharedBinding local = binding(FailureMode.LOCAL, "look");
    for (int i = 0; i < 5; i++) {
      assertThat(decide(new Charges().add(local, 1, 2).peek()).allowed()).isTrue();
    }
  }

  @Test
  void share_isAtLeastOnePermit_ifThereIsAny() {
    assertThat(share(100, 0.25)).isEqualTo(25);
    assertThat(share(100, 1)).isEqualTo(100);
    assertThat(share(3, 0.1)).isEqualTo(1);
    assertThat(share(0, 1)).isZero();
  }

  private static long share(long permits, double part) {
    return FailureDecisions.share(
            Policy.builder(Quota.perSecond(permits))
                .sharing(Sharing.STRICT.localShare(part))
                .build())
        .quota()
        .permits();
  }

  @Test
  void share_isOfTheBurstToo_andKeepsTheRest() {
    Policy policy =
        Policy.builder(Quota.perMinute(100))
            .name("bucket")
            .algorithm(Algorithm.TOKEN_BUCKET)
            .burst(10)
            .maxKeys(7)
            .sharing(Sharing.STRICT.localShare(0.5))
            .build();
    Policy share = FailureDecisions.share(policy);

    assertThat(share.burst()).isEqualTo(5);
    assertThat(share.quota()).isEqualTo(Quota.perMinute(50));
    assertThat(share.algorithm()).isEqualTo(Algorithm.TOKEN_BUCKET);
    assertThat(share.maxKeys()).isEqualTo(7);
    assertThat(share.name()).isEqualTo("bucket");
  }
}
