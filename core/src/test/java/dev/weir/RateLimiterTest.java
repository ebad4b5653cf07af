package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RateLimiterTest {
  @Test
  void allow_threePerTenSeconds_admitsExactly() {
    RateLimiter limiter = new RateLimiter(3, 10_000);

    assertThat(limiter.allow("A", 0)).isTrue();
    assertThat(limiter.allow("A", 1_000)).isTrue();
    assertThat(limiter.allow("A", 2_000)).isTrue();
    assertThat(limiter.allow("A", 3_000)).isFalse();
    assertThat(limiter.allow("B", 3_000)).isTrue();
    assertThat(limiter.allow("A", 9_999)).isFalse();
    assertThat(limiter.allow("A", 11_000)).isTrue();
  }
}
