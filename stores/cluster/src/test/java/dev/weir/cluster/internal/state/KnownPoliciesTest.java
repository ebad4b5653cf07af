package dev.weir.cluster.internal.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import org.junit.jupiter.api.Test;

class KnownPoliciesTest {
  private static Policy bucket(long burst) {
    return Policy.builder(Quota.perDay(10)).algorithm(Algorithm.TOKEN_BUCKET).burst(burst).build();
  }

  /** Callers of {@code CL.THROTTLE} choose the numbers: each triple is a policy. */
  @Test
  void policiesBeyondTheBound_areNotKept_andThoseBeforeAre() {
    MemoryStore store = new MemoryStore();
    KnownPolicies policies = new KnownPolicies();
    ClusterPolicy base = ClusterPolicy.of("buckets", bucket(1));
    int bound = 0;
    for (int i = 0; i < KnownPolicies.MOST + 100; i++) {
      bound += policies.bound(store, base.variant(bucket(2 + i)).bytes(), 0) == null ? 0 : 1;
    }
    assertThat(bound).isEqualTo(KnownPolicies.MOST - 1);
    assertThat(policies.uses()).hasSize(KnownPolicies.MOST);
    assertThat(policies.known(base.bytes())).isNotNull();
    assertThat(policies.known(base.variant(bucket(2)).bytes())).isNotNull();
  }
}
