package dev.weir.replay.internal.pages;

import dev.weir.internal.TextTable;
import dev.weir.replay.ReplaySummary;
import dev.weir.replay.ReplaySummary.BusyWindow;
import dev.weir.replay.ReplaySummary.Counts;
import dev.weir.replay.ReplaySummary.PolicyCount;
import dev.weir.replay.ReplaySummary.QueueCount;
import dev.weir.replay.ReplaySummary.RefusedKey;
import dev.weir.replay.ReplaySummary.SeatCount;
import dev.weir.replay.ReplaySummary.UnreadableLine;
import java.util.ArrayList;
import java.util.List;

/** A writer of summaries for people. */
public final class SummaryText {
  private final StringBuilder text = new StringBuilder();

  public SummaryText(ReplaySummary summary) {
    counts(summary);
    policies(summary.policies());
    seats(summary.seats());
    queues(summary.queues());
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
    row(rows, "requests", Figures.number(requests), "");
    row(
        rows,
        "allowed",
        Figures.number(counts.allowed()),
        Figures.percent(counts.allowed(), requests));
    row(
        rows,
        "refused",
        Figures.number(counts.denied()),
        Figures.percent(counts.denied(), requests));
    optional(rows, "refused for another reason", counts.deniedForTrouble());
    optional(rows, "allowed by shadow mode", counts.shadowDenied());
    optional(rows, "tolerated beyond a limit", counts.tolerated());
    optional(rows, "served late", summary.servedLate());
    optional(rows, "gave up waiting", summary.gaveUp());
    optional(rows, "without a limit", counts.unlimited());
    optional(rows, "unreadable", counts.unreadable());
    optional(rows, "out of order", counts.outOfOrder());
    table(rows, "lrr");
    if (counts.outOfOrder() > 0) {
      line("out of order: decided at the time of a later record; use --sort to put them in order");
    }
    Long first = counts.firstNanos();
    Long last = counts.lastNanos();
    if (first != null && last != null) {
      line("from " + Figures.instant(first) + " to " + Figures.instant(last));
    }
    if (summary.stopped()) {
      line("stopped before the end of the input; this is what was read until then");
    }
    line(summary.source().text());
    summary.source().notes().forEach(note -> line(Figures.plain(note)));
  }

  private static void optional(List<String[]> rows, String name, long count) {
    if (count > 0) {
      row(rows, name, Figures.number(count), "");
    }
  }

  private void policies(List<PolicyCount> policies) {
    heading("policies");
    List<String[]> rows = new ArrayList<>();
    row(rows, "policy", "limit", "algorithm", "requests", "refused", "share", "shadow");
    for (PolicyCount each : policies) {
      row(
          rows,
          Figures.plain(each.policy()),
          RuleSections.limit(each),
          each.algorithm(),
          Figures.number(each.requests()),
          Figures.number(each.denied()),
          Figures.percent(each.denied(), each.requests()),
          Figures.number(each.shadowDenied()));
    }
    table(rows, "lllrrrr");
    throttles(policies);
  }

  private void throttles(List<PolicyCount> policies) {
    List<String[]> rows = new ArrayList<>();
    row(rows, "policy", "throttle", "at most", "tolerated");
    for (PolicyCount each : policies) {
      if (!each.throttle().isHard()) {
        String bound = each.throttle().isElastic() ? "" : Figures.number(each.bound());
        row(
            rows,
            Figures.plain(each.policy()),
            each.throttle().toString(),
            bound,
            Figures.number(each.tolerated()));
      }
    }
    if (rows.size() > 1) {
      heading("throttling");
      table(rows, "llrr");
    }
  }

  private void seats(List<SeatCount> seats) {
    if (seats.isEmpty()) {
      return;
    }
    heading("at the same time");
    List<String[]> rows = new ArrayList<>();
    row(rows, "policy", "limit", "refused", "most at once", "without it", "time at the limit");
    for (SeatCount each : seats) {
      row(
          rows,
          Figures.plain(each.policy()),
          Figures.number(each.permits()),
          Figures.number(each.denied()),
          Figures.number(each.mostAtOnce()),
          Figures.number(each.mostWanted()),
          Figures.length(each.atLimitNanos()));
    }
    table(rows, "lrrrrr");
    for (SeatCount each : seats) {
      if (each.cutShort() > 0) {
        line(
            Figures.plain(each.policy())
                + ": longer than the 5 min for which middleware keeps a seat: "
                + Figures.number(each.cutShort()));
      }
    }
  }

  private void queues(List<QueueCount> queues) {
    if (queues.isEmpty()) {
      return;
    }
    heading("queues");
    List<String[]> rows = new ArrayList<>();
    row(
        rows,
        "policy",
        "at most",
        "wait up to",
        "served late",
        "median wait",
        "99 % wait at most",
        "longest wait",
        "gave up",
        "refused at once");
    for (QueueCount each : queues) {
      row(
          rows,
          Figures.plain(each.policy()),
          Figures.number(each.requests()),
          Figures.window(each.waitNanos()),
          Figures.number(each.servedLate()),
          Figures.length(each.medianWaitNanos()),
          Figures.length(each.wait99Nanos()),
          Figures.length(each.longestWaitNanos()),
          Figures.number(each.gaveUp()),
          Figures.number(each.refusedAtOnce()));
    }
    table(rows, "lrrrrrrrr");
  }

  private void refusedKeys(ReplaySummary summary) {
    if (summary.refusedKeys().isEmpty()) {
      return;
    }
    heading(
        "most refused keys"
            + (summary.refusedKeysExact()
                ? ""
                : " (too many for exact counts: these are upper bounds)"));
    List<String[]> rows = new ArrayList<>();
    row(rows, "refused", "policy", "key");
    for (RefusedKey each : summary.refusedKeys()) {
      row(
          rows,
          Figures.number(each.denied()),
          Figures.plain(each.policy()),
          Figures.plain(each.key()));
    }
    table(rows, "rll");
  }

  private void busiestWindows(ReplaySummary summary) {
    if (summary.busiestWindows().isEmpty()) {
      return;
    }
    heading(
        "busiest windows"
            + (summary.busiestWindowsComplete() ? "" : " (too many keys: some are left out)"));
    List<String[]> rows = new ArrayList<>();
    row(rows, "permits", "requests", "refused", "from", "for", "policy", "key");
    for (BusyWindow each : summary.busiestWindows()) {
      row(
          rows,
          Figures.number(each.permits()),
          Figures.number(each.requests()),
          Figures.number(each.denied()),
          Figures.instant(each.startNanos()),
          Figures.window(each.windowNanos()),
          Figures.plain(each.policy()),
          Figures.plain(each.key()));
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
      String where = summary.source().inputs().size() > 1 ? Figures.plain(each.input()) + " " : "";
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
    text.append(TextTable.of("  ", rows, alignment));
  }
}
