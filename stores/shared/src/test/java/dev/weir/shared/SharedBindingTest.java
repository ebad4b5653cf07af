package dev.weir.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Sharing;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SharedBindingTest {
  @Test
  void authority_isKeptWhereOnlyAnswersDiffer() {
    Policy.Builder policy = Policy.builder(Quota.perSecond(100));
    Policy leased = policy.sharing(Sharing.STRICT.consistency(Consistency.LEASED)).build();

    assertThat(
            SharedBinding.sameAuthority(
                leased, policy.sharing(leased.sharing().localShare(0.5)).build()))
        .isTrue();
    assertThat(
            SharedBinding.sameAuthority(
                leased,
                policy.sharing(leased.sharing().syncInterval(Duration.ofMillis(7))).build()))
        .isFalse();
    assertThat(
            SharedBinding.sameAuthority(
                leased,
                Policy.builder(Quota.perSecond(101))
                    .sharing(Sharing.STRICT.consistency(Consistency.LEASED))
                    .build()))
        .isFalse();
  }
}
