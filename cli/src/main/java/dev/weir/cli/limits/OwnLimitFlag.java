package dev.weir.cli.limits;

import dev.weir.cli.command.FlagValues;
import dev.weir.rules.DurationText;
import dev.weir.rules.ValueErrors;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A reader of {@code RULE=N[,burst=N][,window=DURATION][,until=TIME]}; a rule's name may have any
 * text.
 */
final class OwnLimitFlag {
  private static final long MAX_PERMITS = 4_294_967_295L;
  private static final long YEAR_NANOS = 366L * 86_400_000_000_000L;

  /** The longest time until an end that is given as a length of time. */
  private static final long MAX_UNTIL_NANOS = 100 * YEAR_NANOS;

  private static final Pattern FLAG =
      Pattern.compile("(.+?)=([0-9][0-9_]*)((?:,(?:burst|window|until)=[^,]*)*)", Pattern.DOTALL);

  private static final String FORM =
      "RULE=N[,burst=N][,window=1m][,until=2027-01-31T00:00:00Z or 7d]";

  private OwnLimitFlag() {}

  /**
   * Returns the limit in the form of the administration interface.
   *
   * @param now the time from which a length of time until the end counts
   * @throws IllegalArgumentException if the text is not a limit
   */
  static Map<String, Object> read(String text, Instant now) {
    Matcher flag = FLAG.matcher(text);
    if (!flag.matches()) {
      throw ValueErrors.error("--limit", text, FORM);
    }
    Map<String, Object> limit = new LinkedHashMap<>();
    limit.put("rule", flag.group(1));
    limit.put("requests_per_unit", FlagValues.number("--limit: N", flag.group(2), 0, MAX_PERMITS));
    String more = flag.group(3);
    for (String each : more.isEmpty() ? new String[0] : more.substring(1).split(",", -1)) {
      int equals = each.indexOf('=');
      String name = each.substring(0, equals);
      if (limit.put(name, value(name, each.substring(equals + 1), now)) != null) {
        throw ValueErrors.error("--limit", text, name + " once");
      }
    }
    return limit;
  }

  private static Object value(String name, String text, Instant now) {
    return switch (name) {
      case "burst" -> FlagValues.number("--limit: burst", text, 0, MAX_PERMITS);
      case "window" -> {
        long nanos = DurationText.read("--limit: window", text, 1_000_000, YEAR_NANOS);
        yield DurationText.format(nanos);
      }
      default -> until(text, now).toString();
    };
  }

  private static Instant until(String text, Instant now) {
    long nanos = DurationText.parse(text);
    if (nanos > 0 && nanos <= MAX_UNTIL_NANOS) {
      return now.plusNanos(nanos).truncatedTo(ChronoUnit.SECONDS);
    }
    try {
      return Instant.parse(text).truncatedTo(ChronoUnit.SECONDS);
    } catch (DateTimeException e) {
      throw ValueErrors.error(
          "--limit: until", text, "a time in UTC such as 2027-01-31T00:00:00Z, or how long, 7d");
    }
  }
}
