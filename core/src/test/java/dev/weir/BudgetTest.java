package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** A store's budget of three keys and 100 bytes, and two names that share it. */
class BudgetTest {
  private final Budget whole = new Budget(3, 100);
  private final Budget first = whole.part();
  private final Budget second = whole.part();

  @Test
  void takenByAPart_countsInTheWhole() {
    assertThat(first.take(2, 0)).isTrue();
    assertThat(second.take(1, 0)).isTrue();

    assertThat(first.keys()).isEqualTo(2);
    assertThat(second.keys()).isEqualTo(1);
    assertThat(whole.keys()).isEqualTo(3);

    first.giveBack(2);
    assertThat(first.keys()).isZero();
    assertThat(whole.keys()).isEqualTo(1);
  }

  @Test
  void fullWhole_refusesEveryPart_andNothingIsTaken() {
    assertThat(first.take(2, 0)).isTrue();
    assertThat(second.take(2, 0)).isFalse();

    assertThat(second.keys()).isZero();
    assertThat(whole.keys()).isEqualTo(2);
    assertThat(second.take(1, 0)).isTrue();
  }

  @Test
  void fullPart_refuses_andTheOtherKeepsItsRoom() {
    first.maxKeys(1);
    assertThat(first.maxKeys()).isEqualTo(1);
    assertThat(second.maxKeys()).isEqualTo(3);

    assertThat(first.take(1, 0)).isTrue();
    assertThat(first.take(1, 0)).isFalse();
    assertThat(second.take(2, 0)).isTrue();
  }

  @Test
  void bytesOfAPart_countInTheWhole_andEndTheGrowthOfAll() {
    first.grown(60);
    assertThat(second.take(1, 41)).isFalse();
    assertThat(second.take(1, 40)).isTrue();
    second.grown(40);

    assertThat(whole.bytes()).isEqualTo(100);
    assertThat(first.mayGrow(0)).isFalse();
    first.grown(-60);
    assertThat(first.bytes()).isZero();
    assertThat(second.mayGrow(0)).isTrue();
  }

  @Test
  void cellsOfASketch_areCountedBeyondTheBound() {
    assertThat(first.take(3, 0)).isTrue();
    first.add(2);

    assertThat(first.keys()).isEqualTo(5);
    assertThat(whole.keys()).isEqualTo(5);
  }

  @Test
  void wrongSums_areFound() {
    first.grown(8);
    first.verify(0, 8);
    assertThatThrownBy(() -> first.verify(1, 8))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("keys and bytes: 0, 8 (expected: 1, 8)");
  }
}
