package dev.weir.traffic;

import dev.weir.rules.ShownText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A description of the durations that records have, and of those that they lack. Immutable.
 *
 * @param column the column that has them; of several, their names with {@code +} between
 * @param unit the unit of their numbers, for example seconds; empty if the column has times
 * @param timeIs the instant that the time of a record is
 * @param missing the number of records without a duration
 * @param negative the number of records with a negative one
 * @param unreadable the number of records with a text that is no duration, or a longer one than 366
 *     days
 */
public record RequestDurations(
    String column, String unit, TimeMeaning timeIs, long missing, long negative, long unreadable) {

  /** Returns the column, the unit and the meaning of the time, for people. */
  public String text() {
    return "duration in column "
        + ShownText.plain(column)
        + (unit.isEmpty() ? "" : " in " + unit)
        + ", time is the "
        + timeIs;
  }

  /** Returns the number of records whose duration is not known. */
  public long unknown() {
    return missing + negative + unreadable;
  }

  /**
   * Adds the doubt about records without a duration, if there are any.
   *
   * @param records the number of all records
   */
  void warn(long records, List<String> warnings) {
    List<String> parts = new ArrayList<>();
    part(parts, missing, "without one");
    part(parts, negative, "with a negative one");
    part(parts, unreadable, "with another text");
    if (!parts.isEmpty()) {
      warnings.add(
          String.format(
              Locale.ROOT,
              "duration: not known of %,d of %,d records (%s); each of these ends when it begins",
              unknown(),
              records,
              String.join(", ", parts)));
    }
  }

  private static void part(List<String> parts, long count, String what) {
    if (count > 0) {
      parts.add(String.format(Locale.ROOT, "%,d %s", count, what));
    }
  }
}
