package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ExpectedTest {
  private enum Color {
    RED,
    DARK_BLUE
  }

  @Test
  void choice_isReadAsUsersWriteIt() {
    assertThat(ValueErrors.choice(Color.class, "color", "dark-blue")).isEqualTo(Color.DARK_BLUE);
  }

  @Test
  void otherText_isRefusedWithAllThatThereAre() {
    assertThatThrownBy(() -> ValueErrors.choice(Color.class, "--color", "DARK_BLUE"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("--color: DARK_BLUE (expected: one of red, dark-blue)");
  }
}
