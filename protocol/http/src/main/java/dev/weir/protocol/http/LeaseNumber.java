package dev.weir.protocol.http;

/**
 * The number of a lease or a charge as text: 16 hexadecimal digits, because not every client can
 * hold 64 bits of a JSON number.
 */
public final class LeaseNumber {
  private static final int DIGITS = 16;

  private LeaseNumber() {}

  public static String text(long number) {
    String digits = Long.toHexString(number);
    return "0".repeat(DIGITS - digits.length()) + digits;
  }

  /** Returns whether a text is such a number. */
  public static boolean matches(String text) {
    if (text.length() != DIGITS) {
      return false;
    }
    for (int i = 0; i < DIGITS; i++) {
      char digit = text.charAt(i);
      boolean hexadecimal =
          (digit >= '0' && digit <= '9')
              || (digit >= 'a' && digit <= 'f')
              || (digit >= 'A' && digit <= 'F');
      if (!hexadecimal) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns the number that a text holds which {@link #matches}.
   *
   * @throws NumberFormatException if the text does not match
   */
  public static long of(String text) {
    return Long.parseUnsignedLong(text, 16);
  }
}
