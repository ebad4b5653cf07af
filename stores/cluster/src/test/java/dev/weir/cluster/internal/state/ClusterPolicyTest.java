package dev.weir.cluster.internal.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.cluster.Policies;
import dev.weir.testkit.Trials;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ClusterPolicyTest {
  @Test
  void anyPolicy_isReadAsWritten() {
    int runs = 5_000;
    SplittableRandom random = Trials.random("policies round trip", runs);
    for (int i = 0; i < runs; i++) {
      Policy policy = Policies.any(random);
      ClusterPolicy code = ClusterPolicy.of("rule " + i, policy);
      assertSame(ClusterPolicy.read(code.bytes()), code);
      Policy other = policy.withPermits(random.nextLong(1_000));
      ClusterPolicy variant = code.variant(other);
      assertSame(ClusterPolicy.read(variant.bytes()), variant);
      assertThat(variant.base()).isEqualTo(code);
      assertThat(variant).isNotEqualTo(code);
      assertThat(variant.variant(policy).base()).as("of a variant").isEqualTo(code);
      assertThat(code.policy().shape())
          .isEqualTo(ClusterPolicy.read(code.bytes()).policy().shape());
    }
  }

  private static void assertSame(ClusterPolicy read, ClusterPolicy written) {
    assertThat(read).isEqualTo(written).hasSameHashCodeAs(written);
    assertThat(read.bytes()).isEqualTo(written.bytes());
    assertThat(read.name()).isEqualTo(written.name());
    assertThat(read.policy().quota()).isEqualTo(written.policy().quota());
    assertThat(read.policy().burst()).isEqualTo(written.policy().burst());
    assertThat(read.policy().shape()).isEqualTo(written.policy().shape());
    assertThat(read.memoryNanos()).isEqualTo(written.memoryNanos());
  }

  @Test
  void lengths_areWholeMicroseconds_andNeverShorter() {
    int runs = 2_000;
    SplittableRandom random = Trials.random("whole microseconds", runs);
    for (int i = 0; i < runs; i++) {
      Policy policy = Policies.any(random);
      Policy counted = ClusterPolicy.of("rule", policy).policy();
      long window = counted.quota().windowNanos();
      assertThat(window % Policies.MICRO).isZero();
      long interval = policy.sharing().syncIntervalNanos();
      boolean leased = policy.sharing().consistency() == Consistency.LEASED;
      long least =
          policy.quota().windowNanos() + (leased && !policy.algorithm().aligned() ? interval : 0);
      assertThat(window).isBetween(least, least + Policies.MICRO - 1);
      assertThat(counted.quota().permits()).isEqualTo(policy.quota().permits());
      if (counted.algorithm().granular()) {
        assertThat(counted.granularityNanos() % Policies.MICRO).isZero();
      }
    }
  }

  /**
   * An allotment counts longer by the interval, which no quota can express for the longest window.
   */
  @Test
  void longestWindow_isCountedUnlessItIsLeased() {
    for (Algorithm algorithm : Algorithm.rates()) {
      for (Consistency consistency : Consistency.values()) {
        Policy policy =
            Policies.shared(algorithm, 5, Quota.MAX_WINDOW_NANOS, consistency, Policies.SECOND);
        if (consistency == Consistency.LEASED && !algorithm.aligned()) {
          assertThatIllegalArgumentException().isThrownBy(() -> ClusterPolicy.of("rule", policy));
        } else {
          ClusterPolicy code = ClusterPolicy.of("rule", policy);
          assertThat(ClusterPolicy.read(code.bytes())).isEqualTo(code);
        }
      }
    }
  }

  @Test
  void damagedPolicies_areRefusedOrMakeSense() {
    int runs = 200;
    SplittableRandom random = Trials.random("damaged policies", runs);
    for (int i = 0; i < runs; i++) {
      ClusterPolicy code = ClusterPolicy.of("rule", Policies.any(random));
      byte[] bytes = (random.nextBoolean() ? code : code.variant(Policies.any(random))).bytes();
      for (int length = 0; length < bytes.length; length++) {
        byte[] cut = Arrays.copyOf(bytes, length);
        assertThatIllegalArgumentException().isThrownBy(() -> ClusterPolicy.read(cut));
      }
      for (int at = 0; at < bytes.length; at++) {
        byte[] flipped = bytes.clone();
        flipped[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        read(flipped);
      }
      byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
      assertThatIllegalArgumentException().isThrownBy(() -> ClusterPolicy.read(longer));
    }
  }

  private static void read(byte[] bytes) {
    try {
      assertThat(ClusterPolicy.read(bytes).memoryNanos()).isNotNegative();
    } catch (IllegalArgumentException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }
}
