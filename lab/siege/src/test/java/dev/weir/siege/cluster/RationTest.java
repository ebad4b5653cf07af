package dev.weir.siege.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.siege.guests.Guest.Answer;
import org.junit.jupiter.api.Test;

class RationTest {
  private static final Answer ALLOWED = new Answer(true, Answer.WITHIN_LIMIT);
  private static final Answer DENIED = new Answer(false, Answer.OVER_LIMIT);
  private static final Answer UNDECIDED = new Answer(false, "OVERLOADED");

  private final Ration ration = new Ration(false);

  private void use() {
    for (int i = 0; i < Ration.PERMITS; i++) {
      assertThat(ration.judge(ALLOWED, 0, 0)).isNull();
    }
  }

  @Test
  void firstPermitsPass_thenNoneDo_thenThereIsAnotherKey() {
    for (int i = 0; i < 3; i++) {
      String key = ration.key();
      use();
      while (ration.key().equals(key)) {
        assertThat(ration.judge(DENIED, 0, 0)).isNull();
      }
    }
  }

  @Test
  void oneTooMany_isWrong() {
    use();
    assertThat(ration.judge(ALLOWED, 0, 0)).endsWith("(expected: refused)");
  }

  @Test
  void oneTooFew_isWrong() {
    assertThat(ration.judge(DENIED, 0, 0)).endsWith("(expected: allowed)");
  }

  @Test
  void refusalForAnotherReason_isWrongUnlessItMayBe() {
    assertThat(ration.judge(UNDECIDED, 0, 0)).isNotNull();
    assertThat(new Ration(true).judge(UNDECIDED, 0, 0)).isNull();
  }
}
