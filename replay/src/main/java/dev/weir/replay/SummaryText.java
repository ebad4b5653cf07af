package dev.weir.replay;

import dev.weir.replay.ReplaySummary.BusyWindow;
import dev.weir.replay.ReplaySummary.Counts;
import dev.weir.replay.ReplaySummary.PolicyCount;
import dev.weir.replay.ReplaySummary.RefusedKey;
import dev.weir.replay.ReplaySummary.UnreadableLine;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Writes a summary for people. */
final class SummaryText {
  private static final long NANOS = 1_000_000_000L;

  /** The longest key shown: beyond it the table would not fit a wide terminal. */
  private static final int MAX_KEY = 80;

  private final StringBuilder text = new StringBuilder();

  SummaryText(ReplaySummary summary) {
    counts(summary);
    policies(summary.policies());
    refusedKeys(summary);
    busiestWindows(summary);
    unreadableLines(summary);
  }

  @Override
  public String toString() {
    return text.toString();
  }

  private void counts(ReplaySummary summary) {
    Counts counts = summary.counts();
    long requests = counts.requests();
    List<String[]> rows = new ArrayList<>();
    row(rows, "requests", number(requests), "");
    row(rows, "allowed", number(counts.allowed()), percent(counts.allowed(), requests));
    row(rows, "denied", number(counts.denied()), percent(counts.denied(), requests));
    optional(rows, "of these not for a limit", counts.deniedForTrouble());
    optional(rows, "denied but for shadow mode", counts.shadowDenied());
    optional(rows, "beyond a limit but tolerated", counts.tolerated());
    optional(rows, "without a limit", counts.unlimited());
    optional(rows, "unreadable", counts.unreadable());
    optional(rows, "out of order", counts.outOfOrder());
    table(rows, "lrr");
    if (counts.outOfOrder() > 0) {
      line("out of order: decided at the latest time before them; --sort has them in order");
    }
    Long first = counts.firstNanos();
    Long last = counts.lastNanos();
    if (first != null && last != null) {
      line("from " + instant(first) + " to " + instant(last));
    }
    if (summary.stopped()) {
      line("stopped before the end of the input; this is what was read until then");
    }
    line(
        "format "
            + summary.source().format()
            + ", time in column "
            + plain(summary.source().timeColumn()));
  }

  private static void optional(List<String[]> rows, String name, long count) {
    if (count > 0) {
      row(rows, name, number(count), "");
    }
  }

  private void policies(List<PolicyCount> policies) {
    heading("policies");
    List<String[]> rows = new ArrayList<>();
    row(rows, "policy", "limit", "algorithm", "requests", "denied", "share", "shadow");
    for (PolicyCount each : policies) {
      row(
          rows,
          plain(each.policy()),
          number(each.permits()) + " per " + window(each.windowNanos()),
          each.algorithm(),
          number(each.requests()),
          number(each.denied()),
          percent(each.denied(), each.requests()),
          number(each.shadowDenied()));
    }
    table(rows, "lllrrrr");
    throttles(policies);
  }

  private void throttles(List<PolicyCount> policies) {
    List<String[]> rows = new ArrayList<>();
    row(rows, "policy", "throttle", "with it", "tolerated");
    for (PolicyCount each : policies) {
      if (!each.throttle().isHard()) {
        String bound = each.throttle().isElastic() ? "" : number(each.bound());
        row(
            rows,
            plain(each.policy()),
            each.throttle().toString(),
            bound,
            number(each.tolerated()));
      }
    }
    if (rows.size() > 1) {
      heading("throttling");
      table(rows, "llrr");
    }
  }

  private void refusedKeys(ReplaySummary summary) {
    if (summary.refusedKeys().isEmpty()) {
      return;
    }
    heading(
        "most refused keys"
            + (summary.refusedKeysExact() ? "" : " (too many for exact counts: at most these)"));
    List<String[]> rows = new ArrayList<>();
    row(rows, "denied", "policy", "key");
    for (RefusedKey each : summary.refusedKeys()) {
      row(rows, number(each.denied()), plain(each.policy()), plain(each.key()));
    }
    table(rows, "rll");
  }

  private void busiestWindows(ReplaySummary summary) {
    if (summary.busiestWindows().isEmpty()) {
      return;
    }
    heading(
        "busiest windows"
            + (summary.busiestWindowsComplete() ? "" : " (too many keys: not all looked at)"));
    List<String[]> rows = new ArrayList<>();
    row(rows, "permits", "requests", "denied", "from", "for", "policy", "key");
    for (BusyWindow each : summary.busiestWindows()) {
      row(
          rows,
          number(each.permits()),
          number(each.requests()),
          number(each.denied()),
          instant(each.startNanos()),
          window(each.windowNanos()),
          plain(each.policy()),
          plain(each.key()));
    }
    table(rows, "rrrllll");
  }

  private void unreadableLines(ReplaySummary summary) {
    List<UnreadableLine> lines = summary.unreadableLines();
    if (lines.isEmpty()) {
      return;
    }
    long more = summary.counts().unreadable() - lines.size();
    heading("unreadable" + (more > 0 ? " (the first " + lines.size() + ")" : ""));
    for (UnreadableLine each : lines) {
      String where = summary.source().inputs().size() > 1 ? plain(each.input()) + " " : "";
      line(where + "line " + each.line() + ": " + each.reason());
    }
  }

  private void heading(String title) {
    text.append('\n').append(title).append('\n');
  }

  private void line(String line) {
    text.append("  ").append(line).append('\n');
  }

  private static void row(List<String[]> rows, String... cells) {
    rows.add(cells);
  }

  private void table(List<String[]> rows, String alignment) {
    text.append(TextTable.of(rows, alignment));
  }

  static String plain(String text) {
    return Shown.plain(Shown.cut(text, MAX_KEY));
  }

  static String number(long value) {
    if (value > -1_000 && value < 1_000) {
      return Long.toString(value);
    }
    return String.format(Locale.ROOT, "%,d", value);
  }

  static String percent(long part, long whole) {
    BigDecimal share = ReplaySummary.share(part, whole, 4).scaleByPowerOfTen(2).setScale(2);
    return share.toPlainString() + " %";
  }

  /** Returns a time as ISO-8601 in UTC, with as many places as it needs. */
  static String instant(long nanos) {
    return Instant.ofEpochSecond(Math.floorDiv(nanos, NANOS), Math.floorMod(nanos, NANOS))
        .toString();
  }

  /** Returns a length of time in the largest unit that is exact: {@code 1 min}, {@code 90 s}. */
  static String window(long nanos) {
    long[] units = {86_400 * NANOS, 3_600 * NANOS, 60 * NANOS, NANOS, 1_000_000, 1_000, 1};
    String[] names = {"d", "h", "min", "s", "ms", "us", "ns"};
    int i = 0;
    while (nanos % units[i] != 0) {
      i++;
    }
    return nanos / units[i] + " " + names[i];
  }
}
