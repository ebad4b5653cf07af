package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FullnessWarningTest {
  @Test
  void warnsOnceOnTheWayUp_andAgainOnlyAfterItWasCalm() {
    FullnessWarning fullness = new FullnessWarning("the key space", "--max-keys");
    assertThat(fullness.warning(79)).isEmpty();
    assertThat(fullness.warning(80).orElseThrow()).startsWith("the key space is 80 % full");
    assertThat(fullness.warning(100)).isEmpty();
    assertThat(fullness.warning(70)).isEmpty();
    assertThat(fullness.warning(85)).isEmpty();
    assertThat(fullness.warning(69)).isEmpty();
    assertThat(fullness.warning(81).orElseThrow()).startsWith("the key space is 81 % full");
  }
}
