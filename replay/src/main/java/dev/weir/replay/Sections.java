package dev.weir.replay;

import dev.weir.replay.ReplaySummary.UnreadableLine;
import java.util.List;

/** Parts that several pages have. */
final class Sections {
  private Sections() {}

  /** Returns what time the traffic is of. */
  static String span(long firstNanos, long lastNanos, boolean stopped) {
    return instant(firstNanos)
        + " to "
        + instant(lastNanos)
        + " UTC"
        + (stopped ? " \u00b7 stopped before the end of the input" : "");
  }

  /** Returns an instant as people read it, to the second. */
  static String instant(long nanos) {
    return Axis.formatter("yyyy-MM-dd HH:mm:ss").format(Axis.instant(nanos));
  }

  /**
   * Appends what could not be read, if anything.
   *
   * @param lines the first of them
   * @param all how many there are
   */
  static void unreadable(Html html, List<UnreadableLine> lines, long all) {
    if (lines.isEmpty()) {
      return;
    }
    html.raw("<section><h2>Unreadable lines");
    html.element("small", SummaryText.number(all) + " in all; the first " + lines.size());
    html.raw("</h2>").table("input", "#line", "why");
    for (UnreadableLine each : lines) {
      html.row().keyCell(each.input()).number(each.line()).cell(each.reason()).endRow();
    }
    html.endTable().raw("</section>\n");
  }

  /** Appends what the words of a replay's report mean. */
  static void meanings(Html html) {
    html.raw("<section>").element("h2", "What the words mean").raw("<dl>");
    meaning(html, "keys over", "keys that ask for more than the limit within some window.");
    meaning(html, "most admitted", "the most permits that one key was admitted within any window.");
    meaning(
        html,
        "false denials",
        "refused although the permits the key was admitted within the window left room: the price"
            + " of an algorithm that remembers less than every request, or of other rules of the"
            + " same request.");
    meaning(
        html,
        "over-admitted",
        "admitted although the permits the key was admitted within the window left no room. Never"
            + " with a sliding window.");
    meaning(
        html,
        "tolerated",
        "admitted beyond the limit because the rule's throttle is soft, or elastic while the load"
            + " was low.");
    meaning(
        html, "window", "any time of the rule's length that ends with a request, not the clock's.");
    html.raw("</dl></section>\n");
  }

  private static void meaning(Html html, String word, String is) {
    html.element("dt", word).element("dd", is);
  }
}
