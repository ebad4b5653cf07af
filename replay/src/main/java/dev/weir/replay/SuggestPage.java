package dev.weir.replay;

import dev.weir.Algorithm;
import dev.weir.replay.LimitSuggestions.RefusalCount;
import dev.weir.replay.internal.judge.Recording;
import dev.weir.replay.internal.judge.Trace;
import dev.weir.replay.internal.pages.Figures;
import dev.weir.replay.internal.pages.Html;
import dev.weir.replay.internal.pages.Page;
import dev.weir.replay.internal.pages.RepeatSection;
import dev.weir.replay.internal.pages.Sections;
import dev.weir.rules.DurationText;
import dev.weir.traffic.Traffic;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The page of a suggestion: the limits, the rules to paste, and the curves behind them. */
final class SuggestPage {
  private SuggestPage() {}

  static String of(Traffic traffic, Suggestion suggestion, Path report) {
    Html html = new Html();
    Algorithm algorithm = suggestion.options().algorithm();
    Trace trace = suggestion.recording().trace();
    html.raw("<header>").element("p class=\"weir\"", "Weir suggest \u00b7 " + algorithm);
    html.raw("<h1><em>").text(suggestion.answer()).raw("</em>");
    html.text(" for each " + suggestion.perKey()).raw("</h1><p>");
    html.text("It " + suggestion.refusedByAnswer() + ". ").raw("</p><p>");
    html.text(Figures.number(suggestion.requests()) + " requests of ");
    html.text(Figures.number(suggestion.keys()) + " keys, ");
    Recording recording = suggestion.recording();
    html.text(Sections.span(trace.firstNanos(), trace.lastNanos(), recording.stopped()));
    html.raw("</p>");
    if (!suggestion.ignoredText().isEmpty()) {
      html.element("p", suggestion.ignoredText());
    }
    html.raw("</header>\n");
    Sections.warnings(html, suggestion.warnings());
    table(html, suggestion);
    html.raw("<section>").element("h2", "Rules to paste");
    html.raw("<pre>").raw(RepeatSection.lines(suggestion.yaml().strip())).raw("</pre></section>\n");
    LimitSuggestions.Window chosen = suggestion.chosen();
    curves(html, suggestion, chosen);
    if (suggestion.windows().size() > 1) {
      html.raw("<details>").element("summary", "The same for the other windows");
      for (LimitSuggestions.Window window : suggestion.windows()) {
        if (!window.equals(chosen)) {
          curves(html, suggestion, window);
        }
      }
      html.raw("</details>\n");
    }
    SeatSections.page(html, List.of(suggestion));
    Sections.unreadable(html, recording.unreadableLines(), recording.unreadable());
    again(html, traffic, suggestion, report);
    return Page.of("Weir suggest", html.toString());
  }

  /** Returns the page of several descriptors: one table, one file of rules, curves for each. */
  static String of(Traffic traffic, Suggestions suggestions, Path report) {
    Html html = new Html();
    Suggestion first = suggestions.each().get(0);
    html.raw("<header>");
    html.element("p class=\"weir\"", "Weir suggest \u00b7 " + first.options().algorithm());
    html.raw("<h1>").text(suggestions.each().size() + " limits that refuse at most ");
    html.raw("<em>").text(first.share()).raw("</em></h1><p>");
    html.text("Of the requests, and of the keys; each limit by itself. ");
    html.text(Figures.number(first.requests()) + " requests, ");
    Trace trace = first.recording().trace();
    html.text(Sections.span(trace.firstNanos(), trace.lastNanos(), first.recording().stopped()));
    html.raw("</p></header>\n");
    Sections.warnings(html, suggestions.warnings());
    together(html, suggestions);
    html.raw("<section>").element("h2", "Rules to paste");
    html.raw("<pre>")
        .raw(RepeatSection.lines(suggestions.yaml().strip()))
        .raw("</pre></section>\n");
    for (Suggestion each : suggestions.each()) {
      html.raw("<h2>").text("By " + each.perKey()).raw("</h2>\n");
      curves(html, each, each.chosen());
    }
    SeatSections.page(html, suggestions.each());
    again(html, traffic, first, report);
    return Page.of("Weir suggest", html.toString());
  }

  private static void together(Html html, Suggestions suggestions) {
    boolean weighted = suggestions.each().stream().anyMatch(Suggestion::weighted);
    html.raw("<section>").element("h2", "The smallest limits");
    List<String> columns =
        new ArrayList<>(
            List.of(
                "by", "#keys", "#limit", "#requests refused", "#keys refused", "most refused key"));
    if (weighted) {
      columns.add(4, "#permits refused");
    }
    html.table(columns.toArray(new String[0]));
    for (Suggestion each : suggestions.each()) {
      RefusalCount by = each.chosen().suggested();
      html.row().word(each.perKey()).number(each.keys());
      html.openCell("n").raw("<b>").text(each.answer()).raw("</b></td>");
      html.number(each.requests(by));
      if (weighted) {
        html.number(by.permits());
      }
      html.number(each.keys(by));
      html.keyCell(by.worstKey().isEmpty() ? "\u2013" : by.worstKey()).endRow();
    }
    html.endTable().raw("</section>\n");
  }

  private static void again(Html html, Traffic traffic, Suggestion suggestion, Path report) {
    RepeatSection again = new RepeatSection("suggest").traffic(traffic);
    suggestion
        .windows()
        .forEach(each -> again.flag("--window", DurationText.format(each.windowNanos())));
    LimitSuggestions.Options options = suggestion.options();
    Algorithm algorithm = options.algorithm();
    again.flag("--headroom", options.headroom() > 0 ? options.headroom() : null);
    again.flag("--ignore-top", options.ignoreTop() > 0 ? options.ignoreTop() : null);
    again.flag("--refuse-at-most", suggestion.share().replace(" ", ""));
    again.flag("--algorithm", algorithm == Algorithm.SLIDING_WINDOW ? null : algorithm);
    again.flag("--domain", suggestion.options().domain()).flag("--report", report);
    again.section(html, suggestion.recording().source());
  }

  private static void table(Html html, Suggestion suggestion) {
    html.raw("<section>").element("h2", "The smallest limits");
    boolean headroom = suggestion.options().headroom() > 0;
    boolean weighted = suggestion.weighted();
    List<String> columns =
        new ArrayList<>(
            List.of(
                "window",
                "#limit",
                "#requests refused",
                "#keys refused",
                "most refused key",
                "#requests refused at one less",
                "#keys refused at one less",
                "#limit for requests alone",
                "#limit for keys alone"));
    if (weighted) {
      columns.add(3, "#permits refused");
    }
    if (headroom) {
      columns.add(1, "#suggested, with headroom");
    }
    html.table(columns.toArray(new String[0]));
    for (LimitSuggestions.Window each : suggestion.windows()) {
      html.row().word(Figures.window(each.windowNanos()));
      if (headroom) {
        html.openCell("n").raw("<b>").text(Figures.number(each.suggested().limit()));
        html.raw("</b></td>");
      }
      html.openCell("n").raw(headroom ? "" : "<b>").text(Figures.number(each.both().limit()));
      html.raw(headroom ? "</td>" : "</b></td>");
      html.number(suggestion.requests(each.both()));
      if (weighted) {
        html.number(each.both().permits());
      }
      html.number(suggestion.keys(each.both()));
      html.openCell("key").text(each.both().worstKey()).raw("<br>");
      html.element("small", Figures.number(each.both().worstRequests()) + " requests");
      html.raw("</td>");
      html.number(suggestion.requests(each.below())).number(suggestion.keys(each.below()));
      html.number(each.forRequests().limit()).number(each.forKeys().limit()).endRow();
    }
    html.endTable().raw("<p class=\"note\">");
    html.text(
        "The limit is the smallest that refuses at most "
            + suggestion.share()
            + " of the requests, and of the keys; the last two columns have the smallest for one of"
            + " them alone. Each limit was replayed, and so was the one below it. A key counts as"
            + " refused if any of its requests is."
            + (headroom ? " The suggested limit has headroom." : ""));
    html.raw("</p></section>\n");
  }

  private static void curves(Html html, Suggestion suggestion, LimitSuggestions.Window window) {
    String length = Figures.window(window.windowNanos());
    html.raw("<section><h2>").text("Per " + length);
    html.element("small", "limit " + Figures.number(window.both().limit())).raw("</h2>");
    RefusalCurves.append(
        html,
        suggestion,
        window.curve(),
        window.both().limit(),
        "limit per " + Figures.window(window.windowNanos()));
    html.raw("</section>\n");
  }
}
