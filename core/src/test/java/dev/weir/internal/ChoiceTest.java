package dev.weir.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ChoiceTest {
  private enum Color {
    RED,
    DARK_BLUE
  }

  @Test
  void constants_areWrittenInLowerCaseWithHyphens() {
    assertThat(Choice.texts(Color.class)).containsExactly("red", "dark-blue");
    assertThat(Choice.find(Color.class, "dark-blue")).isEqualTo(Color.DARK_BLUE);
  }

  @Test
  void names_keepTheirUnderscores() {
    assertThat(Choice.name(Color.DARK_BLUE)).isEqualTo("dark_blue");
  }

  @Test
  void otherText_isOfNoConstant() {
    assertThat(Choice.find(Color.class, "DARK_BLUE")).isNull();
    assertThat(Choice.find(Color.class, "dark_blue")).isNull();
  }
}
