package dev.weir.replay.internal.pages;

import dev.weir.replay.ReplaySummary.QueueCount;
import dev.weir.replay.ReplaySummary.SeatCount;
import dev.weir.replay.ReplaySummary.UnreadableLine;
import java.util.List;

/** Sections that several kinds of pages share. */
public final class Sections {
  private Sections() {}

  /** Returns the first and last instant of the traffic as text. */
  public static String span(long firstNanos, long lastNanos, boolean stopped) {
    return instant(firstNanos)
        + " to "
        + instant(lastNanos)
        + (Axis.relative(firstNanos) ? " from the beginning" : " UTC")
        + (stopped ? " \u00b7 stopped before the end of the input" : "");
  }

  /** Returns an instant in the form that people read, to the second. */
  static String instant(long nanos) {
    return Axis.text("yyyy-MM-dd HH:mm:ss", nanos);
  }

  /** Appends the doubts about the traffic and the rules, if there are any. */
  public static void warnings(Html html, List<String> warnings) {
    if (warnings.isEmpty()) {
      return;
    }
    html.raw("<section>").element("h2", "Warnings").raw("<ul>");
    warnings.forEach(warning -> html.element("li", warning));
    html.raw("</ul></section>\n");
  }

  /**
   * Appends the unreadable lines, if there are any.
   *
   * @param lines the first of these lines
   * @param all the number of these lines
   */
  public static void unreadable(Html html, List<UnreadableLine> lines, long all) {
    if (lines.isEmpty()) {
      return;
    }
    html.raw("<section><h2>Unreadable lines");
    html.element("small", Figures.number(all) + " in all; the first " + lines.size());
    html.raw("</h2>").table("input", "#line", "why");
    for (UnreadableLine each : lines) {
      html.row().keyCell(each.input()).number(each.line()).cell(each.reason()).endRow();
    }
    html.endTable().raw("</section>\n");
  }

  /** Appends the counts of limits at the same time, if there are any. */
  static void seats(Html html, List<SeatCount> seats) {
    if (seats.isEmpty()) {
      return;
    }
    html.raw("<section>").element("h2", "At the same time");
    html.table(
        "rule",
        "#limit",
        "#hold",
        "#refused",
        "#most at once",
        "#without the limit",
        "#time at the limit",
        "#longer than 5 min");
    for (SeatCount each : seats) {
      html.row().word(each.policy()).number(each.permits());
      html.number(Figures.window(each.holdNanos())).number(each.denied());
      html.number(each.mostAtOnce()).number(each.mostWanted());
      html.number(Figures.length(each.atLimitNanos())).number(each.cutShort()).endRow();
    }
    html.endTable();
    html.element(
        "p class=\"note\"",
        "Each request counts from its admission until it has ended, for 5 min at most, as"
            + " middleware keeps its seat. A request that waited ends later by the time it waited.");
    html.raw("<dl>");
    meaning(html, "most at once", "the most permits of one key that were out at the same time.");
    meaning(
        html,
        "without the limit",
        "the most that would have been out for one key if no request had been refused or had"
            + " waited.");
    meaning(
        html, "time at the limit", "the time in which at least one key had all its permits out.");
    html.raw("</dl></section>\n");
  }

  /** Appends the counts of rules' queues, if there are any. */
  static void queues(Html html, List<QueueCount> queues) {
    if (queues.isEmpty()) {
      return;
    }
    html.raw("<section>").element("h2", "Queues");
    html.table(
        "rule",
        "#at most",
        "#wait up to",
        "#served late",
        "#median wait",
        "#99 % wait at most",
        "#longest wait",
        "#gave up",
        "#refused at once");
    for (QueueCount each : queues) {
      html.row().word(each.policy()).number(each.requests());
      html.number(Figures.window(each.waitNanos())).number(each.servedLate());
      html.number(Figures.length(each.medianWaitNanos()));
      html.number(Figures.length(each.wait99Nanos()));
      html.number(Figures.length(each.longestWaitNanos()));
      html.number(each.gaveUp()).number(each.refusedAtOnce()).endRow();
    }
    html.endTable();
    html.element(
        "p class=\"note\"",
        "A request that waited counts at the time at which it was admitted or gave up; what its key"
            + " asks for within a window counts at the time at which it came.");
    html.raw("<dl>");
    meaning(html, "served late", "waited in the queue of a key and was then admitted.");
    meaning(html, "gave up", "waited, and was refused because its turn did not come in time.");
    meaning(
        html,
        "refused at once",
        "found the queue full, or its turn would have come later than it may wait.");
    html.raw("</dl></section>\n");
  }

  /** Appends the meanings of the words in a replay's report. */
  static void meanings(Html html) {
    html.raw("<section>").element("h2", "What the words mean").raw("<dl>");
    meaning(
        html, "keys above the limit", "keys that ask for more than the limit within some window.");
    meaning(html, "most admitted", "the most permits that one key was admitted within any window.");
    meaning(
        html,
        "wrongly refused",
        "requests that were refused although an exact count of what the key was admitted within"
            + " the window left room. The cause is an algorithm that does not remember every"
            + " request, or another rule that refused the same request.");
    meaning(
        html,
        "wrongly admitted",
        "requests that were admitted although an exact count of what the key was admitted within"
            + " the window left no room. A sliding window never does this.");
    meaning(
        html,
        "tolerated",
        "admitted beyond the limit because the rule's throttle is soft, or elastic while the load"
            + " was low.");
    meaning(
        html,
        "window",
        "the time before each request, as long as the rule's window; not a minute or hour of the"
            + " clock.");
    html.raw("</dl></section>\n");
  }

  private static void meaning(Html html, String word, String is) {
    html.element("dt", word).element("dd", is);
  }
}
