package dev.weir.rules;

import dev.weir.rules.internal.parse.Words;
import java.util.Locale;

/** A search for the known word that was probably meant by an unknown one. */
public final class DidYouMean {
  /** The longest word that is compared: the cost is the product of the lengths. */
  private static final int MAX_LENGTH = 64;

  private DidYouMean() {}

  /**
   * Returns {@code , did you mean "word"?} for the nearest word, or the empty text if none is near.
   */
  public static String of(String word, Iterable<String> known) {
    String nearest = null;
    // Two edits, one in words of two or three letters; a swap of two neighbours counts once.
    int least = Math.min(2, word.length() / 2) + 1;
    String lower = word.toLowerCase(Locale.ROOT);
    for (String candidate : known) {
      // The distance is at least the difference of the lengths.
      if (word.length() > MAX_LENGTH || Math.abs(candidate.length() - word.length()) >= least) {
        continue;
      }
      int distance = distance(lower, candidate.toLowerCase(Locale.ROOT));
      if (distance < least) {
        least = distance;
        nearest = candidate;
      }
    }
    return nearest == null ? "" : ", did you mean " + Words.quoted(nearest) + "?";
  }

  /** Returns the restricted Damerau-Levenshtein distance. */
  static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        int substitution = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        d[i][j] = Math.min(substitution, 1 + Math.min(d[i - 1][j], d[i][j - 1]));
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          d[i][j] = Math.min(d[i][j], 1 + d[i - 2][j - 2]);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
