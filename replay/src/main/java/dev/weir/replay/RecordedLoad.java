package dev.weir.replay;

import dev.weir.Quota;
import java.math.BigDecimal;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The load at each record, for elastic rules: what a column says, or the rate of the traffic itself
 * as a share of what the system can take. Not safe for use by several threads.
 */
final class RecordedLoad {
  /** Of nothing: no rule listens, or nobody knows. */
  static final RecordedLoad UNKNOWN = new RecordedLoad(null, null, 0);

  private static final Pattern RATE = Pattern.compile("(\\d{1,10})/(\\d{1,6})(ms|s|m|h)");
  private static final Pattern SHARE = Pattern.compile("\\d{1,6}(\\.\\d{1,9})?%?");

  private final @Nullable Template column;
  private final @Nullable RollingSum offered;
  private final long capacity;

  private RecordedLoad(@Nullable Template column, @Nullable RollingSum offered, long capacity) {
    this.column = column;
    this.offered = offered;
    this.capacity = capacity;
  }

  /**
   * Reads the option.
   *
   * @param text {@code {column}}, or a rate such as {@code 200/1s}; null for none
   */
  static RecordedLoad of(@Nullable String text) throws ReplayException {
    if (text == null) {
      return UNKNOWN;
    }
    Matcher rate = RATE.matcher(text);
    if (rate.matches()) {
      long capacity = Long.parseLong(rate.group(1));
      long windowNanos = Long.parseLong(rate.group(2)) * nanos(rate.group(3));
      if (capacity > 0 && windowNanos > 0 && windowNanos <= Quota.MAX_WINDOW_NANOS) {
        return new RecordedLoad(null, new RollingSum(windowNanos), capacity);
      }
    } else if (text.contains("{")) {
      return new RecordedLoad(Template.of("load", text), null, 0);
    }
    throw new ReplayException(
        "load: "
            + Shown.quoted(text)
            + " (expected: a column like {cpu}, or the requests that are full load, like 200/1s)");
  }

  private static long nanos(String unit) {
    return switch (unit) {
      case "ms" -> 1_000_000L;
      case "s" -> 1_000_000_000L;
      case "m" -> 60_000_000_000L;
      default -> 3_600_000_000_000L;
    };
  }

  List<String> columns() {
    return column == null ? List.of() : column.columns();
  }

  /** Says in which slot each column will be. To be called before {@link #of(Fields)}. */
  void bind(List<String> columns) {
    if (column != null) {
      column.bind(columns);
    }
  }

  /**
   * Returns what a record's column says; not a number where it says nothing.
   *
   * @throws Unreadable if that is no share
   */
  double of(Fields fields) throws Unreadable {
    if (column == null) {
      return Double.NaN;
    }
    String text = column.render(fields).strip();
    if (text.isEmpty() || text.equals("-")) {
      return Double.NaN;
    }
    if (!SHARE.matcher(text).matches()) {
      throw new Unreadable(
          "load: " + Shown.quoted(text) + " (expected: a share such as 0.4 or 40%)");
    }
    boolean percent = text.endsWith("%");
    BigDecimal number = new BigDecimal(percent ? text.substring(0, text.length() - 1) : text);
    return (percent ? number.movePointLeft(2) : number).doubleValue();
  }

  /**
   * Returns the load at a record, itself included.
   *
   * @param nowNanos never earlier than before
   * @param recorded what its column says
   */
  double at(long nowNanos, double recorded) {
    if (offered == null) {
      return recorded;
    }
    offered.add(nowNanos, 1);
    return (double) offered.sum() / capacity;
  }
}
