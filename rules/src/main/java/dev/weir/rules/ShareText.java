package dev.weir.rules;

import java.math.BigDecimal;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The text form of shares in rules, flags and settings: {@code 25%} or {@code 0.25}, in exact
 * millionths.
 */
public final class ShareText {
  /** A whole, in millionths. */
  public static final long WHOLE = 1_000_000;

  /** The description of a share in messages. */
  public static final String EXPECTED = "0..1 or 0%..100%";

  /** The description, in messages, of a share above 0 in whole millionths. */
  public static final String FINEST = "0.0001% to 100%, at most four digits behind the point";

  private static final Pattern SHARE = Pattern.compile("\\d{1,9}(\\.\\d{1,9})?%?");

  private ShareText() {}

  /**
   * Returns the share in millionths, which may be more than {@link #WHOLE}; -1 if the text is no
   * share, or none of whole millionths.
   */
  public static long parse(String text) {
    BigDecimal millionths = millionths(text);
    return millionths == null || millionths.scale() > 0 ? -1 : millionths.longValueExact();
  }

  private static @Nullable BigDecimal millionths(String text) {
    if (!SHARE.matcher(text).matches()) {
      return null;
    }
    boolean percent = text.endsWith("%");
    BigDecimal number = new BigDecimal(percent ? text.substring(0, text.length() - 1) : text);
    return number.movePointRight(percent ? 4 : 6).stripTrailingZeros();
  }

  /** Returns whether the text is a share of at most 1, but not one of whole millionths. */
  public static boolean isTooFine(String text) {
    BigDecimal millionths = millionths(text);
    return millionths != null
        && millionths.scale() > 0
        && millionths.compareTo(BigDecimal.valueOf(WHOLE)) < 0;
  }

  /**
   * Returns the share in millionths, 0 to {@link #WHOLE}.
   *
   * @param name what the value is for, such as a flag
   * @throws IllegalArgumentException if the text is no share of whole millionths
   */
  public static long read(String name, String text) {
    long millionths = parse(text);
    if (millionths < 0 || millionths > WHOLE) {
      throw ValueErrors.error(name, ShownText.plain(text), EXPECTED);
    }
    return millionths;
  }

  /** Returns the shortest text in percent: 250,000 millionths are {@code 25%}. */
  public static String format(long millionths) {
    return BigDecimal.valueOf(millionths, 4).stripTrailingZeros().toPlainString() + '%';
  }
}
