package dev.weir.admin.internal.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The differences between texts, line by line, in the unified form. */
final class TextDiff {
  /*
   * How is TextDiff designed, and why? It is Myers' greedy algorithm [An O(ND) Difference Algorithm
   * and Its Variations, 1986], applied after the common beginning and end of both texts are
   * removed. Its time and memory grow with the square of the number of edits. So beyond MAX_EDITS
   * everything between the common beginning and end counts as replaced: a longer answer, but still
   * a correct one.
   */
  static final int MAX_EDITS = 1_000;

  /** The longest difference; a longer one is cut off and marked as cut. */
  static final int MAX_CHARS = 512 << 10;

  private static final int CONTEXT = 3;

  /** A line of both texts, of the old one ({@code -}), or of the new one ({@code +}). */
  private record Line(char kind, String text) {}

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
        hunks(lines(old == null ? "" : old), lines(now == null ? "" : now), text);
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

  private static void hunks(List<String> before, List<String> after, StringBuilder to) {
    List<Line> lines = compare(before, after);
    int at = 0;
    int old = 1;
    int now = 1;
    while (at < lines.size()) {
      if (lines.get(at).kind() == ' ' && !changes(lines, at, at + CONTEXT + 1)) {
        at++;
        old++;
        now++;
        continue;
      }
      int end = at;
      while (end < lines.size() && changes(lines, end - CONTEXT, end + CONTEXT + 1)) {
        end++;
      }
      int olds = 0;
      int news = 0;
      StringBuilder hunk = new StringBuilder();
      for (Line line : lines.subList(at, end)) {
        olds += line.kind() == '+' ? 0 : 1;
        news += line.kind() == '-' ? 0 : 1;
        hunk.append(line.kind()).append(line.text()).append('\n');
      }
      to.append("@@ -").append(range(old, olds)).append(" +").append(range(now, news));
      to.append(" @@\n").append(hunk);
      old += olds;
      now += news;
      at = end;
    }
  }

  private static String range(int from, int count) {
    return (count == 0 ? from - 1 : from) + (count == 1 ? "" : "," + count);
  }

  /** Returns whether there is a change among these lines. */
  private static boolean changes(List<Line> lines, int from, int to) {
    for (int i = Math.max(0, from); i < Math.min(to, lines.size()); i++) {
      if (lines.get(i).kind() != ' ') {
        return true;
      }
    }
    return false;
  }

  private static List<Line> compare(List<String> before, List<String> after) {
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
    List<Line> lines = new ArrayList<>();
    before.subList(0, begin).forEach(line -> lines.add(new Line(' ', line)));
    middle(
        before.subList(begin, before.size() - end),
        after.subList(begin, after.size() - end),
        lines);
    before
        .subList(before.size() - end, before.size())
        .forEach(line -> lines.add(new Line(' ', line)));
    return lines;
  }

  private static void middle(List<String> before, List<String> after, List<Line> to) {
    List<int[]> reached = reached(before, after);
    if (reached.isEmpty()) {
      before.forEach(line -> to.add(new Line('-', line)));
      after.forEach(line -> to.add(new Line('+', line)));
      return;
    }
    List<Line> reversed = new ArrayList<>();
    int x = before.size();
    int y = after.size();
    for (int edits = reached.size() - 1; edits > 0; edits--) {
      int[] last = reached.get(edits - 1);
      int diagonal = x - y;
      boolean inserted = inserts(last, diagonal, edits);
      int from = inserted ? diagonal + 1 : diagonal - 1;
      int begin = last[from + edits] + (inserted ? 0 : 1);
      while (x > begin) {
        x--;
        y--;
        reversed.add(new Line(' ', before.get(x)));
      }
      if (inserted) {
        y--;
        reversed.add(new Line('+', after.get(y)));
      } else {
        x--;
        reversed.add(new Line('-', before.get(x)));
      }
    }
    while (x > 0) {
      x--;
      reversed.add(new Line(' ', before.get(x)));
    }
    for (int i = reversed.size() - 1; i >= 0; i--) {
      to.add(reversed.get(i));
    }
  }

  /**
   * Returns for each number of edits how far down the old text each diagonal comes with that
   * number; the diagonal k is at k + edits + 1. Returns nothing if too many edits are needed.
   */
  private static List<int[]> reached(List<String> before, List<String> after) {
    List<int[]> reached = new ArrayList<>();
    int[] last = {0, 0};
    for (int edits = 0; edits <= MAX_EDITS; edits++) {
      int[] now = new int[2 * edits + 3];
      for (int diagonal = -edits; diagonal <= edits; diagonal += 2) {
        int x =
            edits == 0
                ? 0
                : inserts(last, diagonal, edits)
                    ? last[diagonal + 1 + edits]
                    : last[diagonal - 1 + edits] + 1;
        while (x < before.size()
            && x - diagonal < after.size()
            && x - diagonal >= 0
            && before.get(x).equals(after.get(x - diagonal))) {
          x++;
        }
        now[diagonal + edits + 1] = x;
        if (x >= before.size() && x - diagonal >= after.size()) {
          reached.add(now);
          return reached;
        }
      }
      reached.add(now);
      last = now;
    }
    return List.of();
  }

  /** Returns whether the path to a diagonal comes by an inserted line, not by a deleted one. */
  private static boolean inserts(int[] last, int diagonal, int edits) {
    return diagonal == -edits
        || (diagonal != edits && last[diagonal - 1 + edits] < last[diagonal + 1 + edits]);
  }
}
