package dev.weir.http.outgoing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryAfterTest {
  private static final int SECOND = 1_000_000_000;

  /** An hour before the dates of the tests. */
  private static final long NOW = Instant.parse("1994-11-06T07:49:37Z").getEpochSecond() * SECOND;

  private static long seconds(String... lines) {
    long nanos = RetryAfter.nanos(List.of(lines), List.of(), NOW);
    return nanos == RetryAfter.NONE ? -1 : nanos / SECOND;
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "7, 7",
    "' 120\t', 120",
    "0000000000000000000120, 120",
    "999999999, 999999999",
    "99999999999999999999999999999999, 999999999"
  })
  void seconds_areRead(String value, long expected) {
    assertThat(seconds(value)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994"
      })
  void dateInAnyForm_isReadFromTheClock(String date) {
    assertThat(seconds(date)).isEqualTo(3600);
  }

  @Test
  void dateBesideAServersDate_isReadFromThat() {
    assertThat(
            RetryAfter.nanos(
                List.of("Fri, 01 Jan 2038 00:00:10 GMT"),
                List.of("Fri, 01 Jan 2038 00:00:00 GMT"),
                NOW))
        .isEqualTo(10L * SECOND);
    assertThat(RetryAfter.nanos(List.of("Sun, 06 Nov 1994 08:49:37 GMT"), List.of("garbage"), NOW))
        .isEqualTo(3600L * SECOND);
  }

  @Test
  void dateWithoutAServersDate_isNeverReadTooEarly() {
    SplittableRandom random = Trials.random("instants of Retry-After");
    for (int i = 0; i < 10_000; i++) {
      Instant now = Instant.ofEpochSecond(random.nextLong(4_000_000_000L), random.nextInt(SECOND));
      Instant until = Instant.ofEpochSecond(now.getEpochSecond() + random.nextInt(-10, 100_000));
      String date = DateTimeFormatter.RFC_1123_DATE_TIME.format(until.atOffset(ZoneOffset.UTC));
      long nanos =
          RetryAfter.nanos(
              List.of(date.replaceFirst(" (\\d) ", " 0$1 ")),
              List.of(),
              now.getEpochSecond() * SECOND + now.getNano());
      Instant tried = now.plusNanos(nanos);
      assertThat(nanos % SECOND).isZero();
      assertThat(tried).as("%s at %s", date, now).isAfterOrEqualTo(until);
      if (nanos > 0) {
        assertThat(tried).as("%s at %s", date, now).isBefore(until.plusSeconds(1));
      }
    }
  }

  @Test
  void dateInThePast_isNoWait() {
    assertThat(seconds("Sat, 05 Nov 1994 08:49:37 GMT")).isZero();
    assertThat(seconds("Saturday, 06-Nov-60 08:49:37 GMT")).isEqualTo(-1);
  }

  @Test
  void yearOfTwoDigits_isAtMost50YearsAhead() {
    assertThat(seconds("Sunday, 06-Nov-44 08:49:37 GMT")).isEqualTo(999_999_999L);
    assertThat(seconds("Monday, 06-Nov-45 08:49:37 GMT")).isEqualTo(-1);
    assertThat(seconds("Tuesday, 06-Nov-45 08:49:37 GMT")).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "-1",
        "+1",
        "1.5",
        "1e3",
        "1 s",
        "soon",
        "\u0661",
        "Mon, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT",
        "1994-11-06T08:49:37Z"
      })
  void garbage_isIgnored(String value) {
    assertThat(seconds(value)).isEqualTo(-1);
  }

  @Test
  void longValue_isIgnored() {
    assertThat(seconds("1".repeat(65_536))).isEqualTo(-1);
    assertThat(seconds("x".repeat(65_536))).isEqualTo(-1);
    assertThat(
            RetryAfter.nanos(
                List.of("Sun, 06 Nov 1994 08:49:37 GMT"), List.of("x".repeat(65_536)), NOW))
        .isEqualTo(3600L * SECOND);
  }

  @Test
  void severalLines_areTheLongest() {
    assertThat(seconds("3", "garbage", "9", "4")).isEqualTo(9);
    assertThat(seconds()).isEqualTo(-1);
  }
}
