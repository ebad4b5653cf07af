package dev.weir.replay.internal.recorded;

import dev.weir.Quota;
import dev.weir.replay.internal.judge.RollingSum;
import dev.weir.rules.DurationText;
import dev.weir.rules.ShownText;
import dev.weir.traffic.TrafficException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The load at each record, for elastic rules: the value of a column, or the rate of the traffic
 * itself as a share of what the system can take. Not safe for use by several threads.
 */
public final class RecordedLoad {
  /** A load that is unknown: no rule needs one, or there is none. */
  public static final RecordedLoad UNKNOWN = new RecordedLoad(null, null, 0);

  private static final Pattern RATE = Pattern.compile("(\\d{1,10})/([0-9a-z]+)");

  private final @Nullable String column;
  private final @Nullable RollingSum offered;
  private final long capacity;

  private RecordedLoad(@Nullable String column, @Nullable RollingSum offered, long capacity) {
    this.column = column;
    this.offered = offered;
    this.capacity = capacity;
  }

  /**
   * Reads the option.
   *
   * @param text {@code {column}}, or a rate such as {@code 200/1s}; null for none
   */
  public static RecordedLoad of(@Nullable String text) throws TrafficException {
    if (text == null) {
      return UNKNOWN;
    }
    Matcher rate = RATE.matcher(text);
    if (rate.matches()) {
      long capacity = Long.parseLong(rate.group(1));
      long windowNanos = DurationText.parse(rate.group(2));
      if (capacity > 0 && windowNanos > 0 && windowNanos <= Quota.MAX_WINDOW_NANOS) {
        return new RecordedLoad(null, new RollingSum(windowNanos), capacity);
      }
    } else if (text.contains("{")) {
      return new RecordedLoad(text, null, 0);
    }
    throw new TrafficException(
        "load: "
            + ShownText.quoted(text)
            + " (expected: a column like {cpu}, or the requests that are full load, like 200/1s)");
  }

  /** Returns the column that has the load, in braces; null if none has. */
  @Nullable
  public String column() {
    return column;
  }

  /**
   * Returns the load at a record, itself included.
   *
   * @param nowNanos the time, never earlier than before
   * @param recorded the value of its column
   */
  public double at(long nowNanos, double recorded) {
    if (offered == null) {
      return recorded;
    }
    offered.add(nowNanos, 1);
    return (double) offered.sum() / capacity;
  }
}
