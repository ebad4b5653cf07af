package dev.weir.rules.internal.parse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.NaiveMatcher;
import dev.weir.testkit.Trials;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WildcardTest {
  @ParameterizedTest
  @CsvSource({
    "*,'',true",
    "*,abc,true",
    "a*,a,true",
    "a*,b,false",
    "*a,ba,true",
    "*a,ab,false",
    "a*b,ab,true",
    "a*b,axxb,true",
    "a*b,abx,false",
    "a**b,ab,true",
    "*a*a*,a,false",
    "*a*a*,aa,true",
    "a.c*,abc,false",
    "a.c*,a.c,true",
    "'a\\*','a\\x',true",
  })
  void star_standsForAnyText(String pattern, String text, boolean expected) {
    assertThat(Wildcard.matches(pattern, text)).isEqualTo(expected);
  }

  @Test
  void randomPatterns_agreeWithRegularExpressions() {
    int runs = 200_000;
    long seed = Trials.random("patterns", runs).nextLong();
    Random random = new Random(seed);
    int matched = 0;
    for (int i = 0; i < runs; i++) {
      String pattern = text(random, "ab*", 6);
      String text = text(random, "ab", 8);
      boolean expected = NaiveMatcher.regex(pattern).matcher(text).matches();
      matched += expected ? 1 : 0;
      assertThat(Wildcard.matches(pattern, text))
          .as("seed %d: %s on %s", seed, pattern, text)
          .isEqualTo(expected);
    }
    assertThat(matched).isGreaterThan(1_000);
  }

  @Test
  void cover_meansThatEveryMatchIsMatched() {
    int runs = 200_000;
    long seed = Trials.random("patterns that cover others", runs).nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < runs; i++) {
      String outer = text(random, "ab*", 5);
      String inner = text(random, "ab*", 5);
      String text = text(random, "ab", 6);
      if (Wildcard.covers(outer, inner) && Wildcard.matches(inner, text)) {
        assertThat(Wildcard.matches(outer, text))
            .as("seed %d: %s covers %s, text %s", seed, outer, inner, text)
            .isTrue();
      }
    }
    assertThat(Wildcard.covers("*", "a*b")).isTrue();
    assertThat(Wildcard.covers("a*", "*a")).isFalse();
    assertThat(Wildcard.covers("a*", "ab*c*")).isTrue();
  }

  @Test
  void manyStarsAndALongText_takeNoMoreThanTheProductOfTheLengths() {
    String pattern = "*a".repeat(500) + "*b";
    String text = "a".repeat(1_000);
    assertThat(Wildcard.matches(pattern, text)).isFalse();
  }

  private static String text(Random random, String letters, int maxLength) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(maxLength + 1);
    for (int i = 0; i < length; i++) {
      text.append(letters.charAt(random.nextInt(letters.length())));
    }
    return text.toString();
  }
}
