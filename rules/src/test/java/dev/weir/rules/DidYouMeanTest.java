package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DidYouMeanTest {
  @ParameterizedTest
  @CsvSource({
    "'','',0",
    "a,'',1",
    "abc,abc,0",
    "abc,abd,1",
    "abc,acb,1",
    "abc,ab,1",
    "unit,untis,2",
    "kitten,sitting,3",
  })
  void distance_countsEditsAndSwaps(String a, String b, int expected) {
    assertThat(DidYouMean.distance(a, b)).isEqualTo(expected);
    assertThat(DidYouMean.distance(b, a)).isEqualTo(expected);
  }

  @Test
  void suggestion_isTheNearestWordOrNone() {
    List<String> words = List.of("unit", "unlimited", "burst");
    assertThat(DidYouMean.of("untis", words)).isEqualTo(", did you mean \"unit\"?");
    assertThat(DidYouMean.of("BURST", words)).isEqualTo(", did you mean \"burst\"?");
    assertThat(DidYouMean.of("x", words)).isEmpty();
    assertThat(DidYouMean.of("window", words)).isEmpty();
    assertThat(DidYouMean.of("u".repeat(1_000_000), words)).isEmpty();
  }
}
