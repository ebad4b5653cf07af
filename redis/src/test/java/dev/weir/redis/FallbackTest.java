package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.FailureAnswer;
import dev.weir.Limit;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FallbackTest {
  private final Fallback fallback = new Fallback(new Counters());

  /** Two permits here, where the answer is local. */
  private RedisLimit limit(FailureAnswer answer, String name) {
    Policy policy = Policy.builder(Quota.perSecond(2)).onFailure(answer).build();
    return limit(name, policy, fallback.limit(name, policy, 0));
  }

  @SuppressWarnings("NullAway") // Nobody asks whose it is.
  private static RedisLimit limit(String name, Policy policy, @Nullable Limit local) {
    return new RedisLimit(null, "weir", name, policy, local, null);
  }

  private Charges decide(Charges charges) {
    fallback.decide(charges, Failure.TIMEOUT, 1);
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
      FailureAnswer answer, Role role, long permits, boolean allowed) {
    Charges charges = decide(new Charges().add(limit(answer, "one"), 1, permits, role));

    assertThat(charges.allowed()).isEqualTo(allowed);
    Reason unknown = permits < 0 ? Reason.INVALID : Reason.UNCERTAIN;
    Reason local = permits > 2 ? Reason.OVER_LIMIT : Reason.WITHIN_LIMIT;
    assertThat(charges.reason(0)).isEqualTo(answer == FailureAnswer.LOCAL ? local : unknown);
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
      FailureAnswer first,
      Role firstRole,
      FailureAnswer second,
      Role secondRole,
      boolean allowed,
      long left) {
    RedisLimit local = limit(second, "two");
    Charges charges =
        decide(
            new Charges().add(limit(first, "one"), 1, 1, firstRole).add(local, 1, 1, secondRole));

    assertThat(charges.allowed()).isEqualTo(allowed);
    Charges looking = decide(new Charges().add(local, 1, 0).peek());
    assertThat(looking.remaining(0)).isEqualTo(left);
  }

  @Test
  void looking_chargesNothingHere() {
    RedisLimit local = limit(FailureAnswer.LOCAL, "look");
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
    return Fallback.share(Policy.builder(Quota.perSecond(permits)).localShare(part).build())
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
            .localShare(0.5)
            .build();
    Policy share = Fallback.share(policy);

    assertThat(share.burst()).isEqualTo(5);
    assertThat(share.quota()).isEqualTo(Quota.perMinute(50));
    assertThat(share.algorithm()).isEqualTo(Algorithm.TOKEN_BUCKET);
    assertThat(share.maxKeys()).isEqualTo(7);
    assertThat(share.name()).isEqualTo("bucket");
  }
}
