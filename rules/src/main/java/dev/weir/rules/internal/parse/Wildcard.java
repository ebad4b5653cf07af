package dev.weir.rules.internal.parse;

/** The matching of patterns in which every {@code *} stands for zero or more characters. */
public final class Wildcard {
  private Wildcard() {}

  public static boolean isPattern(String value) {
    return value.indexOf('*') >= 0;
  }

  /**
   * Returns whether the pattern matches the whole text. Allocates nothing; takes at most
   * pattern.length() x text.length() steps.
   */
  public static boolean matches(String pattern, String text) {
    // Only the last star ever needs another try: the texts that earlier stars took can stay as
    // short as they are, because the last one can take whatever they would have taken.
    int p = 0;
    int t = 0;
    int star = -1;
    int resume = 0;
    while (t < text.length()) {
      if (p < pattern.length() && pattern.charAt(p) == '*') {
        star = p++;
        resume = t;
      } else if (p < pattern.length() && pattern.charAt(p) == text.charAt(t)) {
        p++;
        t++;
      } else if (star >= 0) {
        p = star + 1;
        t = ++resume;
      } else {
        return false;
      }
    }
    while (p < pattern.length() && pattern.charAt(p) == '*') {
      p++;
    }
    return p == pattern.length();
  }

  /**
   * Returns whether {@code outer} matches everything that {@code inner} matches. A star of the
   * inner pattern can only be taken by a star of the outer one, so the inner pattern is read as a
   * text.
   */
  static boolean covers(String outer, String inner) {
    return matches(outer, inner);
  }
}
