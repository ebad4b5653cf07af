package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FullnessWarningTest {
  @Test
  void warnsOnceOnTheWayUp_andAgainOnlyAfterItWasCalm() {
    FullnessWarning fullness = new FullnessWarning("the key space", "--max-keys");
    assertThat(fullness.warning(79)).isNull();
    assertThat(fullness.warning(80)).startsWith("the key space is 80 % full");
    assertThat(fullness.warning(100)).isNull();
    assertThat(fullness.warning(70)).isNull();
    assertThat(fullness.warning(85)).isNull();
    assertThat(fullness.warning(69)).isNull();
    assertThat(fullness.warning(81)).startsWith("the key space is 81 % full");
  }
}
