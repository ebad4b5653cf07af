package dev.weir.admin.internal.rules;

import com.github.difflib.DiffUtils;
import com.github.difflib.UnifiedDiffUtils;
import com.github.difflib.algorithm.DiffAlgorithmListener;
import com.github.difflib.patch.ChangeDelta;
import com.github.difflib.patch.Chunk;
import com.github.difflib.patch.Patch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The differences between texts, line by line, in the unified form. */
final class TextDiff {
  /*
   * Why is there a bound on edits? The texts come from requests, and the time and memory of the
   * library's algorithm, which is Myers', grow with the square of the number of edits: 1,000 edits
   * are up to a million nodes of 32 bytes. Beyond MAX_EDITS everything between the common beginning
   * and end counts as replaced: a longer answer, but still a correct one. A bound on lines would
   * do the same to a long text with two edits.
   */
  static final int MAX_EDITS = 1_000;

  /** The longest difference; a longer one is cut off and marked as cut. */
  static final int MAX_CHARS = 512 << 10;

  private static final int CONTEXT = 3;

  /** The end of a comparison that needs more than {@link #MAX_EDITS}. */
  private static final class TooManyEdits extends RuntimeException {
    private static final long serialVersionUID = 1;

    TooManyEdits() {
      super("edits: more than " + MAX_EDITS, null, false, false);
    }
  }

  /** A listener that ends a comparison with too many edits; a step is one edit more. */
  private static final class EditLimit implements DiffAlgorithmListener {
    @Override
    public void diffStart() {}

    @Override
    public void diffStep(int edits, int most) {
      if (edits > MAX_EDITS) {
        throw new TooManyEdits();
      }
    }

    @Override
    public void diffEnd() {}
  }

  private TextDiff() {}

  /** Returns the differences of all files that differ, in the order of their names. */
  static String of(Map<String, String> before, Map<String, String> after) {
    Set<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    StringBuilder text = new StringBuilder();
    for (String name : names) {
      String old = before.get(name);
      String now = after.get(name);
      if (old == null || !old.equals(now)) {
        if (text.length() > MAX_CHARS) {
          return text.append("... cut off\n").toString();
        }
        text.append(old == null ? "--- /dev/null" : "--- a/" + name).append('\n');
        text.append(now == null ? "+++ /dev/null" : "+++ b/" + name).append('\n');
        hunks(lines(old == null ? "" : old), lines(now == null ? "" : now))
            .forEach(line -> text.append(line).append('\n'));
      }
    }
    return text.length() > MAX_CHARS
        ? text.substring(0, MAX_CHARS) + "\n... cut off\n"
        : text.toString();
  }

  /** Returns the lines; a last line without a line break is marked, as in patches. */
  private static List<String> lines(String text) {
    List<String> lines = new ArrayList<>();
    int from = 0;
    while (from < text.length()) {
      int end = text.indexOf('\n', from);
      if (end < 0) {
        lines.add(text.substring(from) + "\n\\ No newline at end of file");
        return lines;
      }
      lines.add(text.substring(from, end));
      from = end + 1;
    }
    return lines;
  }

  /** Returns the hunks. */
  private static List<String> hunks(List<String> before, List<String> after) {
    return UnifiedDiffUtils.generateUnifiedDiff("", "", before, patch(before, after), CONTEXT)
        .stream()
        .skip(2) // The names.
        .toList();
  }

  private static Patch<String> patch(List<String> before, List<String> after) {
    try {
      return DiffUtils.diff(before, after, new EditLimit());
    } catch (TooManyEdits e) {
      return replacement(before, after);
    }
  }

  private static Patch<String> replacement(List<String> before, List<String> after) {
    int shorter = Math.min(before.size(), after.size());
    int begin = 0;
    while (begin < shorter && before.get(begin).equals(after.get(begin))) {
      begin++;
    }
    int end = 0;
    while (end < shorter - begin
        && before.get(before.size() - 1 - end).equals(after.get(after.size() - 1 - end))) {
      end++;
    }
    Patch<String> patch = new Patch<>(1);
    patch.addDelta(
        new ChangeDelta<>(
            new Chunk<>(begin, before.subList(begin, before.size() - end)),
            new Chunk<>(begin, after.subList(begin, after.size() - end))));
    return patch;
  }
}
