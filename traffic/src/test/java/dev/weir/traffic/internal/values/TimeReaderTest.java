package dev.weir.traffic.internal.values;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.testkit.Trials;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimeReaderTest {

  private static long nanos(String text, TimeReader.Unit unit) throws UnreadableException {
    byte[] bytes = ("<" + text + ">").getBytes(StandardCharsets.UTF_8);
    return new TimeReader(unit).nanos(bytes, 1, bytes.length - 1);
  }

  private static long nanos(String text) throws UnreadableException {
    return nanos(text, TimeReader.Unit.BY_SIZE);
  }

  private static long nanos(Instant instant) {
    return instant.getEpochSecond() * 1_000_000_000 + instant.getNano();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          0                                    | 0
          1                                    | 1000000000
          807256800                            | 807256800000000000
          807256800.5                          | 807256800500000000
          1700000000.123456789                 | 1700000000123456789
          1700000000.1234567899                | 1700000000123456789
          1700000000.                          | 1700000000000000000
          .5                                   | 500000000
          2015                                 | 2015000000000
          99999999999                          | !
          100000000000                         | 100000000000000000
          1700000000123                        | 1700000000123000000
          1700000000123.5                      | 1700000000123500000
          1700000000123.4567891                | 1700000000123456789
          1700000000123456                     | 1700000000123456000
          1700000000123456789                  | 1700000000123456789
          1700000000123456789.9                | 1700000000123456789
          1.7e9                                | 1700000000000000000
          1.70000000012345678E9                | 1700000000123456780
          1.700000000123E12                    | 1700000000123000000
          -1                                   | -1000000000
          -0.5                                 | -500000000
          -0.0000000001                        | -1
          +5                                   | 5000000000
          3458764512                           | 3458764512000000000
          4611686019                           | !
          99999999999999999999                 | !
          1e400                                | !
          1e-999999999                         | !
          2015-05-17T10:05:03Z                 | 1431857103000000000
          2015-05-17t10:05:03z                 | 1431857103000000000
          2015-05-17T10:05:03                  | 1431857103000000000
          2015-05-17T10:05:03.1Z               | 1431857103100000000
          2015-05-17T10:05:03.123456789Z       | 1431857103123456789
          2015-05-17T10:05:03.1234567899Z      | 1431857103123456789
          2015-05-17T12:05:03+02:00            | 1431857103000000000
          2015-05-17T12:05:03+0200             | 1431857103000000000
          2015-05-17T12:05:03+02               | 1431857103000000000
          2015-05-17T04:35:03-05:30            | 1431857103000000000
          2015-05-17 10:05:03                  | 1431857103000000000
          2015-05-17 10:05:03.9799600          | 1431857103979960000
          2015-05-17 10:05:03,25               | 1431857103250000000
          2015-05-17 10:05:03 +0000            | 1431857103000000000
          2015-05-17 10:05:03 UTC              | 1431857103000000000
          2015/05/17 10:05:03                  | 1431857103000000000
          2015-05-17T10:05                     | 1431857100000000000
          2015-05-17                           | 1431820800000000000
          2016-02-29T00:00:00Z                 | 1456704000000000000
          2016-12-31T23:59:60Z                 | 1483228800000000000
          1969-12-31T23:59:59.999999999Z       | -1
          17/May/2015:10:05:03 +0000           | 1431857103000000000
          17/may/2015:12:05:03 +0200           | 1431857103000000000
          17/May/2015:10:05:03.25 +0000        | 1431857103250000000
          17/May/2015 10:05:03                 | 1431857103000000000
          17/May/2015:06:35:03 -03-30          | 1431857103000000000
          Sun, 17 May 2015 10:05:03 GMT        | 1431857103000000000
          17 May 2015 10:05:03 +0000           | 1431857103000000000
          Fri, 1 May 2015 00:00:00 GMT         | 1430438400000000000
          1 May 2015 00:00:00 GMT              | 1430438400000000000
          """)
  void knownText_givesKnownNanoseconds(String text, String expected) throws UnreadableException {
    if (expected.equals("!")) {
      assertThatThrownBy(() -> nanos(text)).isInstanceOf(UnreadableException.class);
    } else {
      assertThat(nanos(text)).isEqualTo(Long.parseLong(expected));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "-",
        "+",
        ".",
        "1.2.3",
        "12a",
        "0x10",
        "NaN",
        "now",
        "2015-",
        "2015-5-17",
        "2015-00-01",
        "2015-13-01",
        "2015-02-29",
        "2015-04-31",
        "2015-01-00",
        "2015-05-17T",
        "2015-05-17T24:00:00Z",
        "2015-05-17T10:60:00Z",
        "2015-05-17T10:00:61Z",
        "2015-05-17T10:05:03.Z",
        "2015-05-17T10:05:03Zulu",
        "2015-05-17T10:05:03+19:00",
        "2015-05-17T10:05:03+02:0",
        "2015-05-17T10:05:03+02:00x",
        "2015-05/17 10:05:03",
        "1700-01-01T00:00:00Z",
        "2200-01-01T00:00:00Z",
        "17/Mai/2015:10:05:03 +0000",
        "17/May/2015",
        "17/May/2015  10:05:03",
        "17/May/2015:10:05:03 +03-30",
        "[17/May/2015:10:05:03 +0000]",
        "[]",
        "1/May/2015:10:05:03 +0000",
        "05/17/2015 10:05:03",
        "Sun 17 May 2015 10:05:03 GMT",
        "Sun, 17 May 2015 10:05:03 CEST",
        "\u0661\u0662\u0663",
        "\u0000\u0001"
      })
  void textThatIsNoTime_isRefused(String text) {
    assertThatThrownBy(() -> nanos(text))
        .isInstanceOf(UnreadableException.class)
        .hasMessageStartingWith("time: ")
        .hasMessageContaining("expected: ");
  }

  @Test
  void timeWithoutAZone_isThatOfTheWritersClock() throws UnreadableException {
    TimeReader reader =
        new TimeReader(TimeReader.Unit.BY_SIZE, new WallClock(ZoneId.of("America/St_Johns")));
    for (String text :
        List.of(
            "2026-11-27T06:14:49",
            "2026-11-27 06:14:49",
            "27/Nov/2026:06:14:49",
            "27/Nov/2026 06:14:49",
            "Fri, 27 Nov 2026 06:14:49",
            "27/Nov/2026:09:44:49 +0000",
            "1795772689")) {
      byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
      assertThat(reader.nanos(bytes, 0, bytes.length)).as(text).isEqualTo(1795772689000000000L);
      boolean zoned = text.endsWith("+0000") || text.startsWith("179");
      assertThat(reader.zoned()).as(text).isEqualTo(zoned);
      assertThat(reader.nanos(bytes, 0, bytes.length)).as(text).isEqualTo(1795772689000000000L);
      assertThat(reader.zoned()).as("again: " + text).isEqualTo(zoned);
    }
  }

  @Test
  void brackets_areTakenOffOnlyWhereTheyAreAllowed() throws UnreadableException {
    byte[] bytes = "[17/May/2015:06:35:03 -0330]".getBytes(StandardCharsets.US_ASCII);
    TimeReader reader = new TimeReader(TimeReader.Unit.BY_SIZE).allowBrackets(true);
    assertThat(reader.nanos(bytes, 0, bytes.length)).isEqualTo(1431857103000000000L);
    for (String text : List.of("[]", "[", "[17/May/2015:06:35:03 -0330", "[[1]]")) {
      byte[] wrong = text.getBytes(StandardCharsets.US_ASCII);
      assertThatThrownBy(() -> reader.nanos(wrong, 0, wrong.length))
          .isInstanceOf(UnreadableException.class);
    }
  }

  @Test
  void message_neverQuotesMoreThanALine() {
    assertThatThrownBy(() -> nanos("9".repeat(100_000)))
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(300));
  }

  @Test
  void unitThatIsGiven_overridesTheSize() throws UnreadableException {
    assertThat(nanos("1500", TimeReader.Unit.SECONDS)).isEqualTo(1_500_000_000_000L);
    assertThat(nanos("1500", TimeReader.Unit.MILLISECONDS)).isEqualTo(1_500_000_000L);
    assertThat(nanos("1500.25", TimeReader.Unit.MICROSECONDS)).isEqualTo(1_500_250L);
    assertThat(nanos("1500", TimeReader.Unit.NANOSECONDS)).isEqualTo(1_500L);
    assertThat(nanos("1700000000123", TimeReader.Unit.MILLISECONDS))
        .isEqualTo(1_700_000_000_123_000_000L);
  }

  @Test
  void everyInstant_survivesEveryFormat() throws UnreadableException {
    int runs = 20_000;
    long seed = Trials.random("instants", runs).nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    List<String> patterns =
        List.of(
            "uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSSXXX",
            "uuuu-MM-dd HH:mm:ss.SSSSSSSSS xx",
            "dd/MMM/uuuu:HH:mm:ss.SSSSSSSSS xx",
            "EEE, d MMM uuuu HH:mm:ss.SSSSSSSSS xx");
    for (int i = 0; i < runs; i++) {
      long nanos =
          random.nextLong(
              -TimeReader.MAX_NANOS + 2_000_000_000L, TimeReader.MAX_NANOS - 2_000_000_000L);
      Instant instant =
          Instant.ofEpochSecond(
              Math.floorDiv(nanos, 1_000_000_000L), Math.floorMod(nanos, 1_000_000_000L));
      ZoneOffset zone = ZoneOffset.ofTotalSeconds(60 * random.nextInt(-18 * 60, 18 * 60 + 1));
      for (String pattern : patterns) {
        String text =
            DateTimeFormatter.ofPattern(pattern, Locale.ROOT).format(instant.atOffset(zone));
        assertThat(nanos(text)).as("seed %s: %s", seed, text).isEqualTo(nanos(instant));
      }
      assertThat(nanos(instant.toString())).as("seed %s: %s", seed, instant).isEqualTo(nanos);
      assertThat(nanos(Long.toString(nanos), TimeReader.Unit.NANOSECONDS)).isEqualTo(nanos);
    }
  }

  @Test
  void randomBytes_areReadOrRefusedButNeverAnythingElse() {
    int runs = 200_000;
    long seed = Trials.random("noise for a time", runs).nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    String alphabet = "0123456789--//::..+TZ, eEMayJun\u0000\u00ff";
    TimeReader reader = new TimeReader(TimeReader.Unit.BY_SIZE);
    for (int i = 0; i < runs; i++) {
      byte[] bytes = new byte[random.nextInt(30)];
      for (int j = 0; j < bytes.length; j++) {
        bytes[j] = (byte) alphabet.charAt(random.nextInt(alphabet.length()));
      }
      try {
        long nanos = reader.nanos(bytes, 0, bytes.length);
        assertThat(Math.abs(nanos)).as("seed %s", seed).isLessThanOrEqualTo(TimeReader.MAX_NANOS);
      } catch (UnreadableException e) {
        assertThat(e.reason()).as("seed %s", seed).startsWith("time: ");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2079-08-08T23:55:12Z",
        "1860-05-25T00:04:48Z",
        "3458764512",
        "-3458764512",
        "3458764513820",
        "3458764513820540927"
      })
  void timeWithinTheHorizon_isRead(String text) throws Exception {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    assertThat(new TimeReader(TimeReader.Unit.BY_SIZE).nanos(bytes, 0, bytes.length)).isNotZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2079-08-08T23:55:14Z",
        "2090-01-01T00:00:00Z",
        "1860-05-25T00:04:46Z",
        "01/Jan/2090:00:00:00 +0000",
        "Sun, 1 Jan 2090 00:00:00 GMT",
        "3786912000",
        "3786912000000",
        "3458764513820540928",
        "-3458764513820540928"
      })
  void timeThatNoLimiterCanCountWith_isUnreadableAndSaysWhy(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    assertThatThrownBy(() -> new TimeReader(TimeReader.Unit.BY_SIZE).nanos(bytes, 0, bytes.length))
        .isInstanceOf(UnreadableException.class)
        .hasMessage("time: \"" + text + "\" (expected: from 1860 to 2079)");
  }
}
