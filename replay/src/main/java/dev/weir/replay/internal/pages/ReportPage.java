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
import dev.weir.replay.internal.judge.WindowUse.RuleUse;
import dev.weir.replay.internal.suggest.OtherLimits;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.ToLongBiFunction;

/**
 * The report of a replay as a page: the answer first, then the times, rules and keys of refusals.
 * The same input and options give the same page.
 */
public final class ReportPage {
  /*
   * How is ReportPage designed, and why? A report is read from the top until the question is
   * answered: how many requests would be refused, then when, by which rule, which limit would
   * refuse fewer keys, and which keys. Each section is a method, in the order in which the page
   * shows them, and writes straight into Html, which escapes all texts. A section without content
   * is left out. All figures come from the summary or the History, so the page, the text and the
   * JSON cannot differ.
   */

  /** The most rules with their own chart: those that refused most. */
  private static final int SHOWN_RULES = 12;

  /** The least number of keys for a curve of shares to mean anything. */
  private static final int FEWEST_KEYS = 10;

  private final Html html = new Html();
  private final ReplaySummary summary;
  private final Counts counts;
  private final History history;
  private final Map<String, RuleUse> use;
  private final KeyNames names;

  /** True if requests have numbers of permits other than one. */
  private final boolean weighted;

  private ReportPage(ReplaySummary summary, History history, KeyNames names) {
    this.summary = summary;
    this.history = history;
    this.names = names;
    counts = summary.counts();
    use = history.use();
    weighted =
        summary.policies().stream()
            .anyMatch(each -> permits(each, Timeline::offered) != each.requests());
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
    rules();
    Sections.queues(html, summary.queues());
    charts();
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
    if (weighted) {
      long refused = 0;
      long asked = 0;
      for (PolicyCount each : summary.policies()) {
        refused += permits(each, Timeline::refused);
        asked += permits(each, Timeline::offered);
      }
      String share = Figures.percent(refused, asked) + " of " + number(asked) + " asked of rules";
      html.tile("permits refused", number(refused), share, refused > 0);
    }
  }

  private long permits(PolicyCount rule, ToLongBiFunction<Timeline, Integer> what) {
    Timeline timeline = rule.requests() == 0 ? null : history.rule(rule.path());
    long sum = 0;
    for (int i = 0; timeline != null && i < timeline.size(); i++) {
      sum += what.applyAsLong(timeline, i);
    }
    return sum;
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

  private void rules() {
    html.raw("<section>").element("h2", "Rules");
    boolean throttled = summary.policies().stream().anyMatch(each -> !each.throttle().isHard());
    List<String> columns =
        new ArrayList<>(
            List.of(
                "rule",
                "limit",
                "algorithm",
                "#requests",
                "#refused",
                "#share",
                "#keys",
                "#keys above the limit",
                "#most admitted",
                "#wrongly refused",
                "#wrongly admitted"));
    if (throttled) {
      columns.add(5, "#tolerated");
    }
    if (weighted) {
      columns.add(columns.indexOf("#keys"), "#permits refused");
    }
    html.table(columns.toArray(new String[0]));
    for (PolicyCount each : summary.policies()) {
      RuleUse of = use.getOrDefault(each.path(), RuleUse.NONE);
      html.row().word(each.policy()).word(limit(each));
      html.words(each.algorithm(), each.throttle().isHard() ? "" : throttle(each));
      html.number(each.requests() == 0 ? "none" : number(each.requests()));
      html.number(refused(each));
      if (throttled) {
        html.number(each.tolerated());
      }
      if (each.requests() == 0) {
        html.number("\u2013"); // No record reached the rule, which is not the same as no refusal.
      } else {
        html.share(refused(each), each.requests());
      }
      if (weighted) {
        html.number(permits(each, Timeline::refused));
      }
      html.number(about(of) + number(of.keys() * of.keysPerFollowed()));
      html.number(about(of) + number(of.above(each.permits()) * of.keysPerFollowed()));
      html.number(of.most()).number(of.falseDenials()).number(of.overAdmissions()).endRow();
    }
    html.endTable();
    long standsFor = use.values().stream().mapToLong(RuleUse::keysPerFollowed).max().orElse(1);
    if (standsFor > 1) {
      html.element(
          "p class=\"note\"",
          "Too many keys to follow all: the last five columns follow one key in "
              + standsFor
              + ", chosen by its hash.");
    }
    html.raw("</section>\n");
  }

  private static String about(RuleUse use) {
    return use.keysPerFollowed() > 1 ? "\u2248 " : "";
  }

  private void charts() {
    List<PolicyCount> busy = new ArrayList<>(summary.policies());
    busy.removeIf(each -> each.requests() == 0);
    busy.sort(Comparator.comparingLong(ReportPage::refused).reversed());
    for (PolicyCount each : busy.subList(0, Math.min(SHOWN_RULES, busy.size()))) {
      Timeline timeline = history.rule(each.path());
      RuleUse of = use.getOrDefault(each.path(), RuleUse.NONE);
      if (timeline != null && of.keys() > 0) {
        html.raw("<section><h2>")
            .text(each.policy())
            .element("small", limit(each) + ", " + unlessHard(each) + each.algorithm());
        html.raw("</h2>");
        String label = each.policy() + ": permits asked for and refused over time";
        html.raw(PageChart.time(timeline, "permits", label, "small"));
        otherLimits(each);
        if (of.keys() >= FEWEST_KEYS) {
          html.raw("<h3>How much do keys ask for?</h3>");
          keyUse(each, of);
        }
        html.raw("</section>\n");
      }
    }
    if (busy.size() > SHOWN_RULES) {
      html.element(
          "p class=\"note\"",
          "Of " + busy.size() + " rules, the " + SHOWN_RULES + " that refused most are drawn.");
    }
  }

  private static long refused(PolicyCount rule) {
    return rule.denied() + rule.shadowDenied();
  }

  private void keyUse(PolicyCount rule, RuleUse of) {
    List<PageChart.Point> points = new ArrayList<>();
    double keys = of.keys();
    points.add(new PageChart.Point(1, of.above(1) / keys));
    for (int i = 0; i < of.keys(); i++) {
      if (of.peak(i) > 1 && (i == 0 || of.peak(i) > of.peak(i - 1))) {
        points.add(new PageChart.Point((double) of.peak(i), of.above(of.peak(i)) / keys));
      }
    }
    String window = Figures.window(rule.windowNanos());
    String what =
        "keys that ask for more than a limit within " + window + ", by that limit in permits";
    double limit = rule.permits();
    html.raw(
        PageChart.curve(
            points, limit, (double) rule.bound(), 0, what, "limit in permits per " + window));
    html.raw("<p class=\"note\">");
    int over = of.above(rule.permits());
    html.text(
        "At the limit of "
            + number(rule.permits())
            + ", "
            + about(of)
            + number(over * of.keysPerFollowed())
            + " of "
            + about(of)
            + number(of.keys() * of.keysPerFollowed())
            + " keys ask for more in some window: "
            + Figures.percent(over, of.keys())
            + ".");
    html.raw("</p>");
  }

  /** Adds the refusals by other limits: by the rule's own algorithm, each limit replayed. */
  private void otherLimits(PolicyCount rule) {
    List<OtherLimits.Candidate> candidates = history.otherLimits(rule.path());
    if (candidates.isEmpty()) {
      return;
    }
    html.raw("<h3>What would other limits refuse?</h3>");
    boolean weighted =
        candidates.stream().anyMatch(each -> each.tried().permits() != each.tried().requests());
    List<String> columns =
        new ArrayList<>(
            List.of(
                "#limit per " + Figures.window(rule.windowNanos()),
                "#requests refused",
                "#keys refused",
                "most refused key",
                "which limit"));
    if (weighted) {
      columns.add(2, "#permits refused");
    }
    html.table(columns.toArray(new String[0]));
    for (OtherLimits.Candidate each : candidates) {
      boolean today = each.tried().limit() == rule.permits();
      html.row().openCell("n").raw(today ? "<b>" : "").text(number(each.tried().limit()));
      html.raw(today ? "</b></td>" : "</td>").number(each.tried().requests());
      if (weighted) {
        html.number(each.tried().permits());
      }
      html.number(each.tried().keys());
      String worst = history.worstKey(rule.path(), each);
      html.openCell("key").text(worst.isEmpty() ? "\u2013" : names.shown(worst));
      if (!worst.isEmpty()) {
        html.raw("<br>").element("small", number(each.tried().worstRequests()) + " requests");
      }
      html.raw("</td>").cell(each.why()).endRow();
    }
    html.endTable();
    html.element(
        "p class=\"note\"",
        "Each limit was replayed by this rule's algorithm, alone, on the requests that reached the"
            + " rule."
            + (rule.throttle().isHard() ? "" : " What its throttle tolerates is left out."));
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

  private static String unlessHard(PolicyCount rule) {
    return rule.throttle().isHard() ? "" : throttle(rule) + ", ";
  }

  private static String throttle(PolicyCount rule) {
    return rule.bound() > rule.permits()
        ? rule.throttle() + ": " + number(rule.bound())
        : rule.throttle().toString();
  }

  private static String limit(PolicyCount rule) {
    return number(rule.permits()) + " per " + Figures.window(rule.windowNanos());
  }

  private static String number(long value) {
    return Figures.number(value);
  }
}
