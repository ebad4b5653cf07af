package dev.weir.replay;

import dev.weir.Algorithm;
import dev.weir.replay.internal.judge.Recording;
import dev.weir.replay.internal.judge.Timeline;
import dev.weir.replay.internal.judge.Trace;
import dev.weir.replay.internal.pages.Figures;
import dev.weir.replay.internal.pages.Html;
import dev.weir.replay.internal.pages.KeyPlot;
import dev.weir.replay.internal.pages.Page;
import dev.weir.replay.internal.pages.PageChart;
import dev.weir.replay.internal.pages.RepeatSection;
import dev.weir.replay.internal.pages.Sections;
import dev.weir.rules.DurationText;
import dev.weir.traffic.Traffic;
import java.nio.file.Path;
import java.util.List;

/** The page of a comparison: the table, and one key's traffic through each algorithm. */
final class ComparePage {
  private ComparePage() {}

  static String of(Traffic traffic, Comparison comparison, Path report) {
    Html html = new Html();
    List<Compare.Row> rows = comparison.rows();
    long least = rows.stream().mapToLong(Compare.Row::refused).min().orElse(0);
    long most = rows.stream().mapToLong(Compare.Row::refused).max().orElse(0);
    String window = Figures.window(comparison.quota().windowNanos());
    String limit = Figures.number(comparison.quota().permits()) + " per " + window;
    html.raw("<header>").element("p class=\"weir\"", "Weir compare \u00b7 " + limit);
    html.raw("<h1>").text("The algorithms refuse ").raw("<em>");
    html.text(Figures.number(least) + (most > least ? " to " + Figures.number(most) : ""));
    html.raw("</em>").text(" of " + Figures.number(comparison.requests()) + " requests");
    html.raw("</h1><p>").text(Figures.number(comparison.keys()) + " keys, ");
    Trace trace = comparison.recording().trace();
    Recording recording = comparison.recording();
    html.text(Sections.span(trace.firstNanos(), trace.lastNanos(), recording.stopped()));
    html.raw("</p>").element("p", comparison.conclusion()).raw("</header>\n");
    Sections.warnings(html, comparison.warnings());
    table(html, comparison);
    html.raw("<section><h2>").text("One key through each");
    KeyPlot plot = comparison.plot();
    html.element("small", comparison.key() + ": " + plot.why()).raw("</h2>");
    for (int i = 0; i < rows.size(); i++) {
      Timeline timeline = plot.timelines().get(i);
      if (timeline.size() > 0) {
        Algorithm algorithm = rows.get(i).algorithm();
        html.raw("<h3>").text(algorithm.text());
        html.element("small", Figures.number(refused(timeline)) + " refused here").raw("</h3>");
        String label = algorithm + ": permits admitted and refused over time";
        html.raw(PageChart.time(timeline, "permits", label, "row"));
      }
    }
    html.raw("</section>\n");
    Sections.unreadable(html, recording.unreadableLines(), recording.unreadable());
    RepeatSection again = new RepeatSection("compare").traffic(traffic);
    again.flag(
        "--limit",
        comparison.quota().permits() + "/" + DurationText.format(comparison.quota().windowNanos()));
    again.flag("--key", plot.asked() ? plot.key() : null).flag("--report", report);
    again.section(html, recording.source());
    return Page.of("Weir compare: " + limit, html.toString());
  }

  private static long refused(Timeline timeline) {
    long refused = 0;
    for (int i = 0; i < timeline.size(); i++) {
      refused += timeline.refused(i);
    }
    return refused;
  }

  private static void table(Html html, Comparison comparison) {
    html.raw("<section>").element("h2", "Side by side");
    html.tableSideBySide(
        "algorithm",
        "#admitted",
        "#refused",
        "#share",
        "#most in a window",
        "#wrongly refused",
        "#wrongly admitted",
        "#bytes per key",
        "#decisions per second");
    for (Compare.Row row : comparison.rows()) {
      html.row().word(row.algorithm().text()).number(row.admitted()).number(row.refused());
      html.share(row.refused(), comparison.requests());
      boolean over = row.mostInWindow() > comparison.quota().permits();
      html.openCell(over ? "n over" : "n");
      html.text(Figures.number(row.mostInWindow()) + (over ? " \u2191" : "")).raw("</td>");
      html.number(row.falseDenials()).number(row.overAdmissions()).number(row.bytesPerKey());
      html.number(Comparison.rounded(row.decisionsPerSecond())).endRow();
    }
    html.endTable().raw("<p class=\"note\">");
    html.text(
        "Most in a window: permits that one key was admitted within any window of that length;"
            + " \u2191 is more than the limit. Wrongly refused: an exact count of what the key was"
            + " admitted left room. Wrongly admitted: that count left no room. Decisions per"
            + " second were measured in this run on one thread and differ from run to run.");
    html.raw("</p></section>\n");
  }
}
