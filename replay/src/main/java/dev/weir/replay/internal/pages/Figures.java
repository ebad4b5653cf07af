package dev.weir.replay.internal.pages;

import dev.weir.replay.ReplaySummary;
import dev.weir.rules.ShownText;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Locale;

/** A writer of numbers, shares, times and keys for people, the same in tables, pages and plots. */
public final class Figures {
  private static final long NANOS = 1_000_000_000L;

  /** The length of the longest key shown: beyond it a table would not fit a wide terminal. */
  private static final int MAX_KEY = 80;

  private Figures() {}

  /** Returns a key or another text of the input, cut and without control characters. */
  public static String plain(String text) {
    return ShownText.plain(ShownText.cut(text, MAX_KEY));
  }

  /** Returns a number with commas between thousands. */
  public static String number(long value) {
    if (value > -1_000 && value < 1_000) {
      return Long.toString(value);
    }
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** Returns a share in percent, to two places. */
  public static String percent(long part, long whole) {
    BigDecimal share = ReplaySummary.share(part, whole, 4).scaleByPowerOfTen(2).setScale(2);
    return share.toPlainString() + " %";
  }

  /** Returns a time as ISO-8601 in UTC, with as many digits as it needs. */
  public static String instant(long nanos) {
    return Instant.ofEpochSecond(Math.floorDiv(nanos, NANOS), Math.floorMod(nanos, NANOS))
        .toString();
  }

  /**
   * Returns a length of time in the form that people read, to three digits or so: {@code 12.3 ms}.
   */
  public static String length(long nanos) {
    if (nanos >= NANOS) {
      return String.format(Locale.ROOT, "%.2f s", nanos / 1e9);
    }
    return nanos >= NANOS / 1_000
        ? String.format(Locale.ROOT, "%.1f ms", nanos / 1e6)
        : String.format(Locale.ROOT, "%.1f us", nanos / 1e3);
  }

  /** Returns a length of time in the largest unit that is exact: {@code 1 min}, {@code 90 s}. */
  public static String window(long nanos) {
    long[] units = {86_400 * NANOS, 3_600 * NANOS, 60 * NANOS, NANOS, 1_000_000, 1_000, 1};
    String[] names = {"d", "h", "min", "s", "ms", "us", "ns"};
    int i = 0;
    while (nanos % units[i] != 0) {
      i++;
    }
    return nanos / units[i] + " " + names[i];
  }
}
