package dev.weir.replay.internal.pages;

import dev.weir.MemoryStore;
import dev.weir.replay.ReplayOptions;
import dev.weir.replay.ReplaySummary;
import dev.weir.replay.ReplaySummary.BusyWindow;
import dev.weir.replay.ReplaySummary.Counts;
import dev.weir.replay.ReplaySummary.PolicyCount;
import dev.weir.replay.ReplaySummary.RefusedKey;
import dev.weir.replay.internal.judge.History;
import dev.weir.replay.internal.judge.KeyNames;
import dev.weir.replay.internal.judge.Timeline;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The report of a replay as a page: the answer first, then the times, rules and keys of refusals.
 * The same input and options give the same page.
 */
public final class ReportPage {
  /*
   * How is ReportPage designed, and why? A report is read from the top until the question is
   * answered: how many requests would be refused, then when, by which rule, which limit would
   * refuse fewer keys, and which keys. Each section is a method, in the order in which the page
   * shows them, and writes straight into Html, which escapes all texts; RuleSections has those of
   * the rules. A section without content
   * is left out. All figures come from the summary or the History, so the page, the text and the
   * JSON cannot differ.
   */

  private final Html html = new Html();
  private final ReplaySummary summary;
  private final Counts counts;
  private final History history;
  private final KeyNames names;
  private final RuleSections rules;

  private ReportPage(ReplaySummary summary, History history, KeyNames names) {
    this.summary = summary;
    this.history = history;
    this.names = names;
    counts = summary.counts();
    rules = new RuleSections(html, summary, history, names);
  }

  /**
   * Returns the page.
   *
   * @param ruleTexts the rule files: content by name
   */
  public static String of(
      ReplayOptions options,
      ReplaySummary summary,
      History history,
      Map<String, String> ruleTexts) {
    ReportPage page = new ReportPage(summary, history, KeyNames.PLAIN);
    String title = "Weir replay";
    page.sections(
        title + " \u00b7 " + options.domain(),
        html -> Sections.warnings(html, summary.warnings()),
        ruleTexts);
    page.again(options);
    Sections.meanings(page.html);
    return Page.of(title + ": " + options.domain(), page.html.toString());
  }

  /**
   * Returns the page of a dry run.
   *
   * @param first the section that comes first, below the answer
   * @param ruleTexts the proposed rule files: content by name
   */
  public static String ofDryRun(
      ReplaySummary summary,
      History history,
      KeyNames names,
      Consumer<Html> first,
      Map<String, String> ruleTexts) {
    ReportPage page = new ReportPage(summary, history, names);
    page.sections("Weir dry run \u00b7 with the change", first, ruleTexts);
    Sections.meanings(page.html);
    return Page.of("Weir dry run", page.html.toString());
  }

  private void sections(String title, Consumer<Html> first, Map<String, String> ruleTexts) {
    header(title);
    first.accept(html);
    overTime();
    worstMinute();
    rules.table();
    Sections.seats(html, summary.seats());
    Sections.queues(html, summary.queues());
    rules.charts();
    refusedKeys();
    busiestWindows();
    Sections.unreadable(html, summary.unreadableLines(), counts.unreadable());
    ruleTexts(ruleTexts);
  }

  private void header(String title) {
    html.raw("<header>").element("p class=\"weir\"", title);
    html.raw("<h1>");
    if (counts.requests() == 0) {
      html.text("No request could be read");
    } else if (counts.denied() == 0) {
      html.text("None of " + number(counts.requests()) + " requests would be refused");
    } else {
      html.raw("<em>").text(number(counts.denied())).raw("</em>");
      html.text(" of " + number(counts.requests()) + " requests would be refused, ");
      html.text(Figures.percent(counts.denied(), counts.requests()));
    }
    html.raw("</h1><p>");
    Long first = counts.firstNanos();
    Long last = counts.lastNanos();
    if (first != null && last != null) {
      html.text(Sections.span(first, last, summary.stopped()));
    }
    html.raw("</p></header>\n<div class=\"tiles\">");
    html.tile("requests", number(counts.requests()), "decided", false);
    html.tile("admitted", number(counts.allowed()), percentOf(counts.allowed()) + " of all", false);
    String trouble =
        counts.deniedForTrouble() == 0
            ? percentOf(counts.denied()) + " of all"
            : number(counts.deniedForTrouble()) + " for another reason than a limit";
    html.tile("refused", number(counts.denied()), trouble, counts.denied() > 0);
    permits();
    busiest();
    if (counts.shadowDenied() > 0) {
      html.tile(
          "in shadow mode", number(counts.shadowDenied()), "would be refused but pass", false);
    }
    if (counts.tolerated() > 0) {
      html.tile("tolerated", number(counts.tolerated()), "admitted beyond a limit", false);
    }
    if (!summary.queues().isEmpty()) {
      String gaveUp = number(summary.gaveUp()) + " gave up waiting";
      html.tile("served late", number(summary.servedLate()), gaveUp, false);
    }
    if (counts.unlimited() > 0) {
      html.tile("without a limit", number(counts.unlimited()), "no rule applies", false);
    }
    html.tile(
        "unreadable",
        number(counts.unreadable()),
        number(counts.outOfOrder()) + " out of order",
        counts.unreadable() > 0);
    html.raw("</div>\n");
  }

  /** Adds the refused permits, if requests have different numbers of them. */
  private void permits() {
    if (rules.weighted()) {
      long refused = 0;
      long asked = 0;
      for (PolicyCount each : summary.policies()) {
        refused += rules.permits(each, Timeline::refused);
        asked += rules.permits(each, Timeline::offered);
      }
      String share = Figures.percent(refused, asked) + " of " + number(asked) + " asked of rules";
      html.tile("permits refused", number(refused), share, refused > 0);
    }
  }

  /** Adds the busiest moment of all requests, as a hint for reading the chart. */
  private void busiest() {
    Timeline requests = history.requests();
    int most = 0;
    for (int i = 1; i < requests.size(); i++) {
      most = requests.offered(i) > requests.offered(most) ? i : most;
    }
    if (requests.size() > 0) {
      html.tile(
          "busiest " + Figures.window(requests.widthNanos()),
          number(requests.offered(most)),
          "requests, from " + Axis.text("d MMM HH:mm:ss", requests.startNanos(most)),
          false);
    }
  }

  private void overTime() {
    if (counts.requests() > 0) {
      html.raw("<section>").element("h2", "Over time");
      String label =
          "Requests over time: "
              + number(counts.allowed())
              + " admitted, refused "
              + number(counts.denied());
      html.raw(PageChart.time(history.requests(), "requests", label, "large"));
      load();
      if (counts.outOfOrder() > 0) {
        html.element(
            "p class=\"note\"",
            number(counts.outOfOrder())
                + " requests are earlier than a request before them and were decided at that later"
                + " time. Use --sort to put all requests in order.");
      }
      html.raw("</section>\n");
    }
  }

  /** Adds the load by which elastic rules decided. */
  private void load() {
    Set<Double> thresholds = new TreeSet<>();
    for (PolicyCount each : summary.policies()) {
      if (each.throttle().isElastic() && each.requests() > 0) {
        thresholds.add(each.throttle().threshold());
      }
    }
    if (!thresholds.isEmpty()) {
      String label = "The load over time, and the thresholds from which elastic rules are enforced";
      html.raw("<h3>Load</h3>");
      html.raw(PageChart.load(history.requests(), history::load, thresholds, label));
    }
  }

  /** Adds the worst burst second by second, which an interval of the chart above would hide. */
  private void worstMinute() {
    Timeline minute = history.closeUp().timeline();
    if (minute.size() == 0 || history.requests().widthNanos() <= minute.widthNanos()) {
      return;
    }
    html.raw("<section><h2>").text("The worst minute");
    html.element(
        "small",
        "until "
            + Sections.instant(history.closeUp().endNanos())
            + ": "
            + number(history.closeUp().refused())
            + " requests refused");
    html.raw("</h2>");
    String label = "Requests around the worst minute, second by second";
    html.raw(PageChart.time(minute, "requests", label, "small")).raw("</section>\n");
  }

  private void refusedKeys() {
    if (summary.refusedKeys().isEmpty()) {
      return;
    }
    html.raw("<section>").element("h2", "Most refused keys");
    html.table("key", "rule", "#refused", "#of all refusals", "from its first refusal on");
    long from = history.requests().startNanos(0);
    long to = history.requests().startNanos(history.requests().size());
    for (RefusedKey each : summary.refusedKeys()) {
      Timeline timeline = history.refusedKey(each.policy(), each.key());
      html.row().keyCell(names.shown(each.key())).word(each.policy()).number(each.denied());
      html.share(each.denied(), counts.denied());
      html.openCell("wide");
      html.raw(timeline == null ? "" : PageChart.spark(timeline, from, to)).raw("</td>").endRow();
    }
    html.endTable();
    if (!summary.refusedKeysExact()) {
      html.element("p class=\"note\"", "Too many keys for exact counts: these are upper bounds.");
    }
    html.raw("</section>\n");
  }

  private void busiestWindows() {
    if (summary.busiestWindows().isEmpty()) {
      return;
    }
    html.raw("<section>").element("h2", "Busiest windows");
    html.table("from", "for", "key", "rule", "#permits", "#requests", "#refused");
    for (BusyWindow each : summary.busiestWindows()) {
      html.row().word(Sections.instant(each.startNanos())).word(Figures.window(each.windowNanos()));
      html.keyCell(names.shown(each.key())).word(each.policy()).number(each.permits());
      html.number(each.requests()).number(each.denied()).endRow();
    }
    html.endTable().raw("</section>\n");
  }

  private void ruleTexts(Map<String, String> texts) {
    if (texts.isEmpty() && summary.warnings().isEmpty()) {
      return;
    }
    html.raw("<section>").element("h2", "The rules");
    texts.forEach(
        (name, text) -> {
          html.element("h3", name).raw("<pre>").raw(RepeatSection.lines(text)).raw("</pre>");
        });
    html.raw("</section>\n");
  }

  private void again(ReplayOptions options) {
    RepeatSection again = new RepeatSection("replay");
    options.rules().forEach(rules -> again.flag("--rules", rules));
    again.flag("--domain", options.domain()).traffic(options.traffic());
    if (options.maxKeys() != MemoryStore.DEFAULT_MAX_KEYS) {
      again.flag("--max-keys", options.maxKeys());
    }
    again.flag("--load", options.load()).flag("--report", options.report());
    ReplaySummary.Source source = summary.source();
    again.section(html, source);
  }

  private String percentOf(long part) {
    return Figures.percent(part, counts.requests());
  }

  private static String number(long value) {
    return Figures.number(value);
  }
}
