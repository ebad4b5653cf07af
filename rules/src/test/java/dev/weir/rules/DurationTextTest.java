package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextTest {
  @ParameterizedTest
  @CsvSource({
    "1ms,1",
    "90s,90000",
    "1h30m,5400000",
    "2m,120000",
    "1d,86400000",
    "1w,604800000",
    "1w2d3h4m5s6ms,788645006",
    "0,0",
    "0s,0",
    "366d,31622400000",
  })
  void text_isMilliseconds(String text, long millis) {
    assertThat(DurationText.parse(text)).isEqualTo(millis * 1_000_000);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "90",
        "s",
        "1 h",
        "-1s",
        "1.5s",
        "30m1h",
        "1s1s",
        "1H",
        "1us",
        "1ns",
        "1month",
        "1h30",
        "9999999999999999s",
        "١s",
        "+1s",
        "1_000s",
      })
  void otherText_isNoDuration(String text) {
    assertThat(DurationText.parse(text)).isEqualTo(-1);
  }

  @Test
  void tooLongADuration_isTheLongest() {
    assertThat(DurationText.parse("999999999999999w")).isEqualTo(Long.MAX_VALUE);
    assertThat(DurationText.parse("106751d1000000h")).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void formattedDuration_parsesToItself() {
    int runs = 10_000;
    long seed = Trials.random("durations", runs).nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < runs; i++) {
      long nanos = random.nextLong(1, 366L * 86_400_000) * 1_000_000;
      assertThat(DurationText.parse(DurationText.format(nanos)))
          .as("seed %d", seed)
          .isEqualTo(nanos);
    }
    assertThat(DurationText.format(1)).isEqualTo("1ns");
    assertThat(DurationText.format(0)).isEqualTo("0s");
    assertThat(DurationText.format(5_400_000_000_000L)).isEqualTo("1h30m");
  }
}
