package dev.weir.rules.internal.parse;

import dev.weir.rules.MatchBudget;
import org.jspecify.annotations.Nullable;

/** The matching of patterns in which every {@code *} stands for zero or more characters. */
public final class Wildcard {
  private Wildcard() {}

  public static boolean isPattern(String value) {
    return value.indexOf('*') >= 0;
  }

  /**
   * Returns whether the pattern matches the whole text. Allocates nothing; takes at most as many
   * steps as the product of the text's length and that of the longest part between two stars.
   */
  public static boolean matches(String pattern, String text) {
    return matches(pattern, text, null);
  }

  /**
   * Returns whether the pattern matches the whole text, like {@link #matches(String, String)}.
   *
   * @param budget counts the comparison; null if nothing does
   */
  static boolean matches(String pattern, String text, @Nullable MatchBudget budget) {
    int star = pattern.indexOf('*');
    boolean matches = star < 0 ? pattern.equals(text) : matches(pattern, star, text, budget);
    if (budget != null) {
      budget.compared(0);
    }
    return matches;
  }

  private static boolean matches(
      String pattern, int firstStar, String text, @Nullable MatchBudget budget) {
    int star = firstStar;
    int last = pattern.lastIndexOf('*');
    int tail = pattern.length() - last - 1;
    int end = text.length() - tail;
    if (end < star
        || !text.regionMatches(0, pattern, 0, star)
        || !text.regionMatches(end, pattern, last + 1, tail)) {
      return false;
    }
    // Each part is taken where it comes first: that leaves the most text for those after it.
    int at = star;
    while (star < last) {
      int next = pattern.indexOf('*', star + 1);
      int length = next - star - 1;
      at = find(pattern, star + 1, length, text, at, end, budget);
      if (at < 0) {
        return false;
      }
      at += length;
      star = next;
    }
    return true;
  }

  /** Returns where a part of the pattern is in the text, at {@code from} or later; else -1. */
  private static int find(
      String pattern,
      int part,
      int length,
      String text,
      int from,
      int end,
      @Nullable MatchBudget budget) {
    if (length == 0) {
      return from;
    }
    char first = pattern.charAt(part);
    int compared = 0;
    int at = text.indexOf(first, from);
    while (at >= 0 && at + length <= end && !text.regionMatches(at, pattern, part, length)) {
      compared += length;
      at = text.indexOf(first, at + 1);
    }
    boolean found = at >= 0 && at + length <= end;
    if (budget != null) {
      budget.compared(compared + length + (at < 0 ? text.length() : at) - from);
    }
    return found ? at : -1;
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
