package dev.weir.replay.internal.pages;

import dev.weir.Algorithm;
import dev.weir.replay.ReplaySummary;
import dev.weir.replay.ReplaySummary.PolicyCount;
import dev.weir.replay.internal.judge.History;
import dev.weir.replay.internal.judge.KeyNames;
import dev.weir.replay.internal.judge.Timeline;
import dev.weir.replay.internal.judge.WindowUse.RuleUse;
import dev.weir.replay.internal.suggest.OtherLimits;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongBiFunction;

/** The sections of a {@link ReportPage} on rules: their table, and the charts of each. */
final class RuleSections {
  /** The most rules with their own chart: those that refused most. */
  private static final int SHOWN_RULES = 12;

  /** The least number of keys for a curve of shares to mean anything. */
  private static final int FEWEST_KEYS = 10;

  private final Html html;
  private final ReplaySummary summary;
  private final History history;
  private final KeyNames names;
  private final Map<String, RuleUse> use;
  private final boolean weighted;

  /**
   * @param html the page that receives the sections
   */
  RuleSections(Html html, ReplaySummary summary, History history, KeyNames names) {
    this.html = html;
    this.summary = summary;
    this.history = history;
    this.names = names;
    use = history.use();
    weighted =
        summary.policies().stream()
            .anyMatch(each -> permits(each, Timeline::offered) != each.requests());
  }

  /** Returns whether requests have numbers of permits other than one. */
  boolean weighted() {
    return weighted;
  }

  /** Returns the sum of a rule's permits over time. */
  long permits(PolicyCount rule, ToLongBiFunction<Timeline, Integer> what) {
    Timeline timeline = rule.requests() == 0 ? null : history.rule(rule.path());
    long sum = 0;
    for (int i = 0; timeline != null && i < timeline.size(); i++) {
      sum += what.applyAsLong(timeline, i);
    }
    return sum;
  }

  /** Adds the table of all rules. */
  void table() {
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
      html.number(each.requests() == 0 ? "none" : Figures.number(each.requests()));
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
      if (hasSeats(each)) { // Seats have no window.
        html.number("\u2013").number("\u2013").number("\u2013").number("\u2013").number("\u2013");
      } else {
        html.number(about(of) + Figures.number(of.keys() * of.keysPerFollowed()));
        html.number(about(of) + Figures.number(of.above(each.permits()) * of.keysPerFollowed()));
        html.number(of.most()).number(of.falseDenials()).number(of.overAdmissions());
      }
      html.endRow();
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

  /** Adds the charts of the rules that refused most. */
  void charts() {
    List<PolicyCount> busy = new ArrayList<>(summary.policies());
    busy.removeIf(each -> each.requests() == 0);
    busy.sort(Comparator.comparingLong(RuleSections::refused).reversed());
    for (PolicyCount each : busy.subList(0, Math.min(SHOWN_RULES, busy.size()))) {
      Timeline timeline = history.rule(each.path());
      RuleUse of = use.getOrDefault(each.path(), RuleUse.NONE);
      if (timeline != null && (of.keys() > 0 || hasSeats(each))) {
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
            + Figures.number(rule.permits())
            + ", "
            + about(of)
            + Figures.number(over * of.keysPerFollowed())
            + " of "
            + about(of)
            + Figures.number(of.keys() * of.keysPerFollowed())
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
                hasSeats(rule)
                    ? "#limit at the same time"
                    : "#limit per " + Figures.window(rule.windowNanos()),
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
      html.row().openCell("n").raw(today ? "<b>" : "").text(Figures.number(each.tried().limit()));
      html.raw(today ? "</b></td>" : "</td>").number(each.tried().requests());
      if (weighted) {
        html.number(each.tried().permits());
      }
      html.number(each.tried().keys());
      String worst = history.worstKey(rule.path(), each);
      html.openCell("key").text(worst.isEmpty() ? "\u2013" : names.shown(worst));
      if (!worst.isEmpty()) {
        html.raw("<br>")
            .element("small", Figures.number(each.tried().worstRequests()) + " requests");
      }
      html.raw("</td>").cell(each.why()).endRow();
    }
    html.endTable();
    html.element(
        "p class=\"note\"",
        (hasSeats(rule)
                ? "Each limit was counted alone, on the requests that reached the rule."
                : "Each limit was replayed by this rule's algorithm, alone, on the requests that"
                    + " reached the rule.")
            + (rule.throttle().isHard() ? "" : " What its throttle tolerates is left out."));
  }

  private static String unlessHard(PolicyCount rule) {
    return rule.throttle().isHard() ? "" : throttle(rule) + ", ";
  }

  private static String throttle(PolicyCount rule) {
    return rule.bound() > rule.permits()
        ? rule.throttle() + ": " + Figures.number(rule.bound())
        : rule.throttle().toString();
  }

  private static boolean hasSeats(PolicyCount rule) {
    return rule.algorithm().equals(Algorithm.CONCURRENCY.text());
  }

  /** Returns the limit of a rule in words. */
  static String limit(PolicyCount rule) {
    if (hasSeats(rule)) {
      return Figures.number(rule.permits()) + " at once";
    }
    return Figures.number(rule.permits()) + " per " + Figures.window(rule.windowNanos());
  }
}
