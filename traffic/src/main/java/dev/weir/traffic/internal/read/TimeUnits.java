package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.TimeReader;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/** The unit of numbers in a column of times: inferred if only one unit gives plausible years. */
final class TimeUnits {
  /*
   * Why 1990 to 2079? Logs of servers are not older, and a limiter's time ends in 2079. As seconds,
   * milliseconds, microseconds and nanoseconds since 1970 these years have no number in common, so
   * at most one unit is plausible. A trace that begins at 0 has no plausible unit: 3000 may be
   * seconds or milliseconds. A wrong guess would make the result wrong by a factor of a thousand,
   * so the user has to name the unit.
   */

  private static final int LOOKED_AT = 1000;

  private static final long FROM_SECONDS =
      LocalDate.of(1990, 1, 1).atStartOfDay(ZoneOffset.UTC).toEpochSecond();

  private static final long TO_SECONDS = TimeReader.MAX_NANOS / 1_000_000_000L;

  private static final List<TimeReader.Unit> UNITS =
      List.of(
          TimeReader.Unit.SECONDS,
          TimeReader.Unit.MILLISECONDS,
          TimeReader.Unit.MICROSECONDS,
          TimeReader.Unit.NANOSECONDS);

  /**
   * A unit, and the way in which it was found.
   *
   * @param reason the reason for the unit, for people; empty if there are no numbers
   */
  record InferredUnit(TimeReader.Unit unit, String reason) {}

  private TimeUnits() {}

  /**
   * Returns the unit of the first times of an input.
   *
   * @param reader a reader of the input's beginning; it is used up
   * @throws TrafficException if they are numbers and no unit is plausible
   */
  static InferredUnit infer(String column, RecordReader reader)
      throws IOException, TrafficException {
    List<BigDecimal> numbers = new ArrayList<>();
    int others = numbers(column, reader, numbers);
    if (others > 0 && 10 * numbers.size() <= others) {
      return new InferredUnit(TimeReader.Unit.NONE, "");
    }
    if (numbers.size() <= others) {
      return new InferredUnit(TimeReader.Unit.BY_SIZE, "");
    }
    for (TimeReader.Unit unit : UNITS) {
      long plausible = numbers.stream().filter(each -> plausible(each, unit)).count();
      if (10 * plausible >= 9L * numbers.size()) {
        BigDecimal shown =
            numbers.stream().filter(e -> plausible(e, unit)).findFirst().orElseThrow();
        return new InferredUnit(
            unit,
            "numbers are "
                + unit.words()
                + ", since "
                + shown.toPlainString()
                + " is "
                + instant(shown, unit)
                + " then, and no plausible time in another unit");
      }
    }
    BigDecimal least = numbers.stream().min(BigDecimal::compareTo).orElseThrow();
    BigDecimal most = numbers.stream().max(BigDecimal::compareTo).orElseThrow();
    throw new TrafficException(
        "time: the numbers in column "
            + ShownText.quoted(column)
            + " begin with "
            + least.toPlainString()
            + " to "
            + most.toPlainString()
            + ", no time from 1990 to 2079 in any unit (expected: --time-unit s, ms, us or ns)");
  }

  private static int numbers(String column, RecordReader reader, List<BigDecimal> numbers)
      throws IOException, TrafficException {
    reader.select(List.of(column));
    RecordValues values = new RecordValues(1);
    int others = 0;
    while (numbers.size() + others < LOOKED_AT) {
      try {
        if (!reader.next(values)) {
          break;
        }
        String text = values.text(0).strip();
        if (text.length() < 40 && TableHeader.isNumber(text)) {
          numbers.add(new BigDecimal(text));
        } else {
          others++;
        }
      } catch (UnreadableException | NumberFormatException e) {
        others++;
      }
    }
    return others;
  }

  private static BigDecimal seconds(BigDecimal number, TimeReader.Unit unit) {
    return number.movePointLeft(9 - unit.places());
  }

  private static boolean plausible(BigDecimal number, TimeReader.Unit unit) {
    BigDecimal seconds = seconds(number, unit);
    return seconds.compareTo(BigDecimal.valueOf(FROM_SECONDS)) >= 0
        && seconds.compareTo(BigDecimal.valueOf(TO_SECONDS)) <= 0;
  }

  private static String instant(BigDecimal number, TimeReader.Unit unit) {
    return Instant.ofEpochSecond(seconds(number, unit).longValue()).toString();
  }
}
