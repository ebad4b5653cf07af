package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FullnessTest {
  @Test
  void warnsOnceOnTheWayUp_andAgainOnlyAfterItWasCalm() {
    Fullness fullness = new Fullness("the key space", "--max-keys");
    assertThat(fullness.look(79)).isNull();
    assertThat(fullness.look(80)).startsWith("the key space is 80 % full");
    assertThat(fullness.look(100)).isNull();
    assertThat(fullness.look(70)).isNull();
    assertThat(fullness.look(85)).isNull();
    assertThat(fullness.look(69)).isNull();
    assertThat(fullness.look(81)).startsWith("the key space is 81 % full");
  }
}
