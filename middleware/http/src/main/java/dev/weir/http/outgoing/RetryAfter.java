package dev.weir.http.outgoing;

import dev.weir.protocol.http.RateLimitFields;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A reader of the field {@code Retry-After} (RFC 9110, section 10.2.3). */
final class RetryAfter {
  /** The value if there is no such field, or none that can be read. */
  static final long NONE = -1;

  /** The longest value that is read; a date has at most 33 characters. */
  private static final int MAX_LENGTH = 64;

  /** The most digits; more would be a wait of over 31 years. */
  private static final int MAX_DIGITS = 9;

  private static final long SECOND = 1_000_000_000L;
  private static final long MAX_SECONDS = 999_999_999L;

  /** The form {@code Sun, 06 Nov 1994 08:49:37 GMT}, which is sent today. */
  private static final DateTimeFormatter FIXED =
      DateTimeFormatter.ofPattern("EEE, dd MMM uuuu HH:mm:ss 'GMT'", Locale.US);

  /** The form {@code Sun Nov 6 08:49:37 1994}, which a recipient must accept, too. */
  private static final DateTimeFormatter ASCTIME =
      DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss uuuu", Locale.US);

  private RetryAfter() {}

  /**
   * Returns the time by the fields of a response. {@code Retry-After} has precedence: the draft
   * requires this for responses that have both.
   *
   * @param fields returns all lines of a field
   */
  static long nanos(Function<String, List<String>> fields, long nowNanos) {
    long nanos = nanos(fields.apply("Retry-After"), fields.apply("Date"), nowNanos);
    return nanos == NONE ? RateLimitReader.nanos(fields.apply(RateLimitFields.RATE_LIMIT)) : nanos;
  }

  /**
   * Returns the time to wait, in nanoseconds and rounded up to whole seconds: at least 0, and
   * {@link #NONE} if no line can be read; of several lines, the longest.
   *
   * @param dates the lines of the response's field {@code Date}: an instant is compared with the
   *     clock of the machine that wrote it, if the response states its time
   * @param nowNanos nanoseconds since 1970, used otherwise
   */
  static long nanos(List<String> lines, List<String> dates, long nowNanos) {
    long longest = NONE;
    for (String line : lines) {
      longest = Math.max(longest, nanos(line, dates, nowNanos));
    }
    return longest;
  }

  private static long nanos(String line, List<String> dates, long nowNanos) {
    if (line.length() > MAX_LENGTH) {
      return NONE;
    }
    String value = line.strip();
    if (!value.isEmpty() && value.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return seconds(value) * SECOND;
    }
    Instant now = Instant.EPOCH.plusNanos(nowNanos);
    Instant until = instant(value, now);
    if (until == null) {
      return NONE;
    }
    Instant sent = dates.size() == 1 ? instant(dates.get(0).strip(), now) : null;
    Duration wait = Duration.between(sent == null ? now : sent, until);
    long seconds = wait.plusNanos(SECOND - 1).toSeconds(); // Rounded up: never too early.
    return Math.min(Math.max(0, seconds), MAX_SECONDS) * SECOND;
  }

  private static long seconds(String digits) {
    String significant = digits.replaceFirst("^0+(?=.)", "");
    return significant.length() > MAX_DIGITS ? MAX_SECONDS : Long.parseLong(significant);
  }

  /** Returns an instant in one of the three forms of RFC 9110, section 5.6.7, or null. */
  private static @Nullable Instant instant(String text, Instant now) {
    if (text.length() > MAX_LENGTH || text.length() < 4) {
      return null;
    }
    DateTimeFormatter form =
        text.charAt(3) == ',' ? FIXED : text.charAt(3) == ' ' ? ASCTIME : rfc850(now);
    try {
      return LocalDateTime.parse(text, form).toInstant(ZoneOffset.UTC);
    } catch (DateTimeException e) {
      return null;
    }
  }

  /**
   * Returns the form {@code Sunday, 06-Nov-94 08:49:37 GMT}, in which no year is more than 50 years
   * in the future.
   */
  private static DateTimeFormatter rfc850(Instant now) {
    LocalDate first = LocalDate.ofInstant(now, ZoneOffset.UTC).minusYears(49);
    return new DateTimeFormatterBuilder()
        .appendPattern("EEEE, dd-MMM-")
        .appendValueReduced(ChronoField.YEAR, 2, 2, first)
        .appendPattern(" HH:mm:ss 'GMT'")
        .toFormatter(Locale.US);
  }
}
