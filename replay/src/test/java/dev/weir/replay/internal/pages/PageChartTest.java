package dev.weir.replay.internal.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PageChartTest {
  @Test
  void numbers_haveTwoPlacesAndNoIdleZeros() {
    assertThat(PageChart.number(0)).isEqualTo("0");
    assertThat(PageChart.number(-0.001)).isEqualTo("0");
    assertThat(PageChart.number(0.05)).isEqualTo("0.05");
    assertThat(PageChart.number(12.5)).isEqualTo("12.5");
    assertThat(PageChart.number(-12.25)).isEqualTo("-12.25");
    assertThat(PageChart.number(1000)).isEqualTo("1000");
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < 10_000; i++) {
      double value = random.nextDouble(-2_000, 2_000);
      BigDecimal rounded = new BigDecimal(value).setScale(2, RoundingMode.HALF_UP);
      String expected = rounded.stripTrailingZeros().toPlainString();
      assertThat(PageChart.number(value)).isEqualTo(expected);
    }
  }
}
