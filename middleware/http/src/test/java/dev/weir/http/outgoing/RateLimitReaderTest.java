package dev.weir.http.outgoing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RateLimitReaderTest {
  private static final long SECOND = 1_000_000_000L;

  private static long seconds(String... lines) {
    long nanos = RateLimitReader.nanos(List.of(lines));
    return nanos == RetryAfter.NONE ? -1 : nanos / SECOND;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"a\";r=0;t=30 | 30",
        "\"a\";t=30;r=0 | 30",
        "\"a\"; r=0;  t=30 | 30",
        "\"a\";r=5;t=30 | -1",
        "\"a\";r=0 | -1",
        "\"a\";r=0;t=0 | 0",
        "\"a\";r=0;t=-5 | -1",
        "\"a\";r=-1;t=5 | -1",
        "\"a\";r=0;t=5.5 | -1",
        "\"a\";r=0.0;t=5 | -1",
        "\"a\";r;t=5 | -1",
        "\"a\";r=0;t=1;t=9 | 9",
        "\"a\";r=0;t=999999999999999 | 999999999",
        "\"a\";r=9;t=99, \"b\";r=0;t=3 , \"c\";r=0;t=7 | 7",
        "\"a\\\"\\\\;,\";r=0;t=4 | 4",
        "\"\";r=0;t=4 | 4",
        "token;r=0;t=4 | -1",
        "(\"a\" \"b\");r=0;t=4 | -1",
        "(), (1 2.5;x), \"a\";r=0;t=4 | 4",
        "\"a\";pk=:cHsdsRa894==:;r=0;t=4;x=?1;y=@-15;z=%\"f%c3%bc\";w=*t/k:n | 4"
      })
  void field_isReadAsAStructuredList(String field, long expected) {
    assertThat(seconds(field)).isEqualTo(expected);
  }

  @Test
  void severalLines_areOneList() {
    assertThat(seconds("\"a\";r=0;t=3", "\"b\";r=0;t=8")).isEqualTo(8);
    assertThat(seconds()).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        ",",
        "\"a\";r=0;t=5,",
        "\"a\";r=0;t=5 \"b\"",
        "\"a\";r=0;t=5;",
        "\"a\";R=0;t=5",
        "\"a\";r= 0;t=5",
        "\"a;r=0;t=5",
        "\"a\\n\";r=0;t=5",
        "\"\u00fc\";r=0;t=5",
        "\"a\";r=0;t=5\0",
        "\"a\";r=0;t=1234567890123456",
        "\"a\";r=0;t=--5",
        "\"a\";r=0;t=5;x=1.2345",
        "\"a\";r=0;t=5;x=1.",
        "\"a\";r=0;t=5;x=?2",
        "\"a\";r=0;t=5;x=:a",
        "\"a\";r=0;t=5;x=%\"%C3\"",
        "(\"a\"\"b\"), \"a\";r=0;t=5",
        "(\"a\"",
        "limit=100, remaining=0, reset=30",
        "100;w=60"
      })
  void malformedField_isIgnoredWhole(String field) {
    assertThat(seconds(field)).isEqualTo(-1);
  }

  @Test
  void longField_isIgnored() {
    assertThat(seconds("\"" + "a".repeat(65_536) + "\";r=0;t=5")).isEqualTo(-1);
    assertThat(seconds("(".repeat(65_536))).isEqualTo(-1);
  }

  @Test
  void anyText_isReadWithoutAnException() {
    SplittableRandom random = new SplittableRandom(5);
    String alphabet = "\"\\;,=()rt0159-.?:@%* \tabz\0\u00fc";
    for (int i = 0; i < 200_000; i++) {
      StringBuilder field = new StringBuilder();
      for (int length = random.nextInt(24); length > 0; length--) {
        field.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      assertThat(seconds(field.toString())).isGreaterThanOrEqualTo(-1);
    }
  }
}
