package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.UnreadableException;
import java.math.BigDecimal;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The column with the load at each record, for elastic rules. Not safe for use by several threads.
 */
public final class LoadColumn {
  /** The absence of a column: records have no load. */
  public static final LoadColumn NONE = new LoadColumn(null);

  private static final Pattern SHARE = Pattern.compile("\\d{1,6}(\\.\\d{1,9})?%?");

  private final @Nullable ColumnTemplate column;

  private LoadColumn(@Nullable ColumnTemplate column) {
    this.column = column;
  }

  /** Reads the option: a column in braces, or null for none. */
  public static LoadColumn of(@Nullable String text) throws TrafficException {
    return text == null ? NONE : new LoadColumn(ColumnTemplate.of("load", text));
  }

  /** Passes the column's template on, if there is one. */
  public void each(Consumer<ColumnTemplate> action) {
    if (column != null) {
      action.accept(column);
    }
  }

  /**
   * Returns the load in a record's column; not a number if it is empty.
   *
   * @throws UnreadableException if that is not a share
   */
  public double of(RecordValues values) throws UnreadableException {
    if (column == null) {
      return Double.NaN;
    }
    String text = column.render(values).strip();
    if (text.isEmpty() || text.equals("-")) {
      return Double.NaN;
    }
    if (!SHARE.matcher(text).matches()) {
      throw new UnreadableException(
          "load: " + ShownText.quoted(text) + " (expected: a share such as 0.4 or 40%)");
    }
    boolean percent = text.endsWith("%");
    BigDecimal number = new BigDecimal(percent ? text.substring(0, text.length() - 1) : text);
    return (percent ? number.movePointLeft(2) : number).doubleValue();
  }
}
