package dev.weir.replay;

import dev.weir.Algorithm;
import dev.weir.replay.Suggest.Refused;
import dev.weir.rules.DurationText;
import dev.weir.traffic.Traffic;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** The page of a suggestion: the limits, the rules to paste, and the curves behind them. */
final class SuggestPage {
  private SuggestPage() {}

  static String of(Traffic traffic, Suggestion suggestion, Path report) {
    Html html = new Html();
    Algorithm algorithm = suggestion.options().algorithm();
    Trace trace = suggestion.recording().trace();
    html.raw("<header>").element("p class=\"weir\"", "Weir suggest \u00b7 " + algorithm);
    html.raw("<h1>").text("Limits that refuse at most ").raw("<em>");
    html.text(suggestion.share()).raw("</em></h1><p>");
    html.text(Figures.number(suggestion.requests()) + " requests of ");
    html.text(Figures.number(suggestion.keys()) + " keys, ");
    Recording recording = suggestion.recording();
    html.text(Sections.span(trace.firstNanos(), trace.lastNanos(), recording.stopped()));
    html.raw("</p></header>\n");
    Sections.warnings(html, suggestion.warnings());
    table(html, suggestion);
    html.raw("<section>").element("h2", "Rules to paste");
    html.raw("<pre>").raw(Again.lines(suggestion.yaml().strip())).raw("</pre></section>\n");
    for (Suggest.Window window : suggestion.windows()) {
      curves(html, suggestion, window);
    }
    Sections.unreadable(html, recording.unreadableLines(), recording.unreadable());
    Again again = new Again("suggest").traffic(traffic);
    suggestion
        .windows()
        .forEach(each -> again.flag("--window", DurationText.format(each.windowNanos())));
    again.flag("--refuse-at-most", suggestion.share().replace(" ", ""));
    again.flag("--algorithm", algorithm == Algorithm.SLIDING_WINDOW ? null : algorithm);
    again.flag("--domain", suggestion.options().domain()).flag("--report", report);
    again.section(html, recording.source());
    return Page.of("Weir suggest", html.toString());
  }

  private static void table(Html html, Suggestion suggestion) {
    html.raw("<section>").element("h2", "The smallest limits");
    html.table(
        "window",
        "#limit for requests",
        "#for keys",
        "#for both",
        "#refused requests",
        "#refused keys",
        "#one lower: requests",
        "#one lower: keys");
    for (Suggest.Window each : suggestion.windows()) {
      html.row().word(Figures.window(each.windowNanos()));
      html.number(each.forRequests().limit()).number(each.forKeys().limit());
      html.openCell("n").raw("<b>").text(Figures.number(each.both().limit())).raw("</b></td>");
      html.number(suggestion.requests(each.both())).number(suggestion.keys(each.both()));
      html.number(suggestion.requests(each.below())).number(suggestion.keys(each.below()));
      html.endRow();
    }
    html.endTable().raw("<p class=\"note\">");
    html.text(
        "Each limit was replayed, and so was the one below it. A key counts as refused if any of"
            + " its requests is. The limit for both exceeds neither share.");
    html.raw("</p></section>\n");
  }

  private static void curves(Html html, Suggestion suggestion, Suggest.Window window) {
    String length = Figures.window(window.windowNanos());
    html.raw("<section><h2>").text("Per " + length);
    html.element("small", "limit " + Figures.number(window.both().limit())).raw("</h2>");
    html.raw("<div class=\"beside even\">");
    String requests = "requests refused, by the limit per " + length;
    String keys = "keys with any refused, by the limit per " + length;
    html.raw(curve(suggestion, window, requests, Refused::requests, suggestion.requests()));
    html.raw(curve(suggestion, window, keys, Refused::keys, suggestion.keys()));
    html.raw("</div></section>\n");
  }

  private static String curve(
      Suggestion suggestion,
      Suggest.Window window,
      String what,
      ToLongFunction<Refused> part,
      long whole) {
    List<PageChart.Point> points = new ArrayList<>();
    for (Refused each : window.curve()) {
      points.add(
          new PageChart.Point((double) each.limit(), part.applyAsLong(each) / (double) whole));
    }
    double limit = (double) window.both().limit();
    return PageChart.curve(points, limit, 0, suggestion.options().refuseAtMost(), what, what);
  }
}
