package dev.weir.traffic.internal.check;

import dev.weir.traffic.TrafficReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A counter of lines that cannot be read, which keeps the first of them. */
public final class UnreadableTally implements TrafficReader.UnreadableLines {
  private static final int SHOWN = 3;

  private long count;
  private final List<String> first = new ArrayList<>();

  @Override
  public void unreadable(String input, long line, String reason) {
    count++;
    if (first.size() < SHOWN) {
      first.add(input + " line " + line + ": " + reason);
    }
  }

  /** Returns the number of these lines. */
  public long count() {
    return count;
  }

  /** Adds a warning if there are any such lines. */
  public void warn(long records, List<String> warnings) {
    if (count > 0) {
      warnings.add(
          String.format(
              Locale.ROOT,
              "unreadable: %,d of %,d lines%s: %s",
              count,
              Math.max(count, records),
              count > first.size() ? "; the first" : "",
              String.join("; ", first)));
    }
  }
}
