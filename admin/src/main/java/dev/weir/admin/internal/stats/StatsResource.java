package dev.weir.admin.internal.stats;

import dev.weir.admin.AdminResponse;
import dev.weir.admin.Observations;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.PercentText;
import dev.weir.admin.internal.http.Query;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.engine.Engine;
import dev.weir.insight.Columns;
import dev.weir.insight.History;
import dev.weir.insight.RuleTotals;
import dev.weir.insight.Series;
import dev.weir.rules.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The resource of decided and refused requests over time. */
public final class StatsResource implements Resource {
  private static final long DEFAULT_SECONDS = 600;
  private static final long MAX_STEP = 86_400;
  private static final long MAX_TIME = 100_000_000_000L;
  private static final int MAX_POINTS = 120;
  private static final int DEFAULT_POINTS = 60;

  private final Observations observed;
  private final Engine engine;
  private final Fleet fleet;

  public StatsResource(Observations observed, Engine engine, Fleet fleet) {
    this.observed = observed;
    this.engine = engine;
    this.fleet = fleet;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/stats", Role.VIEWER, "Returns what was asked over time.", this::stats)
            .query("from", "to", "step", "rule", Fleet.SCOPE)
            .answers(200),
        Route.get("/stats/rules", Role.VIEWER, "Returns what each rule was asked.", this::rules)
            .query("from", "to", "points", Fleet.SCOPE)
            .answers(200));
  }

  /** A span of time whose ends are multiples of its step. */
  private record Window(long from, long to, long step) {
    static Window of(long from, long to, long step) {
      long begin = from - Math.floorMod(from, step);
      long points = Math.max(1, (to - begin + step - 1) / step);
      if (points > Columns.MAX_POINTS) {
        throw new RequestException(
            400,
            "from, to, step: "
                + points
                + " points (expected: at most "
                + Columns.MAX_POINTS
                + "; a larger step)");
      }
      return new Window(begin, begin + points * step, step);
    }
  }

  private long[] span(Query query) {
    long now = observed.insight().history().now();
    long to = query.number("to", now, 1, MAX_TIME);
    long from = query.number("from", Math.max(0, to - DEFAULT_SECONDS), 0, MAX_TIME);
    if (from >= to) {
      throw new RequestException(
          400, ShownText.wrong("from", Long.toString(from), "before to: " + to));
    }
    return new long[] {from, to};
  }

  private AdminResponse stats(Call call) {
    Query query = call.query();
    long[] span = span(query);
    History history = observed.insight().history();
    long narrowest = history.step(span[0], span[1], Columns.MAX_POINTS - 1);
    long fits = (span[1] - span[0] + Columns.MAX_POINTS - 2) / (Columns.MAX_POINTS - 1);
    long step = query.number("step", Math.max(narrowest, fits), 1, MAX_STEP);
    Window window = Window.of(span[0], span[1], multiple(step, narrowest));
    String rule = query.has("rule") ? query.text("rule") : null;
    Map<String, Object> answer = head(window);
    if (rule != null) {
      answer.put("rule", rule);
    }
    answer.put("columns", columns(history.columns(rule, window.from, window.to, window.step)));
    return fleet.answer(call, answer, query(window, rule), StatsMerge::columns);
  }

  /** Returns a step that is a multiple of the narrowest row. */
  private static long multiple(long step, long narrowest) {
    long rows = step >= 300 ? 300 : step >= 10 ? 10 : 1;
    long least = Math.max(narrowest, rows);
    return Math.max(least, (step + least - 1) / least * least);
  }

  private static String query(Window window, @Nullable String rule) {
    String span = "from=" + window.from + "&to=" + window.to + "&step=" + window.step;
    return rule == null ? span : span + "&rule=" + PercentText.encode(rule);
  }

  private Map<String, Object> head(Window window) {
    History history = observed.insight().history();
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("node", observed.node());
    answer.put("now", history.now());
    answer.put("from", window.from);
    answer.put("to", window.to);
    answer.put("step", window.step);
    answer.put("persistent", history.persistent());
    answer.put("problem", history.problem());
    List<Map<String, Object>> tiers = new ArrayList<>();
    for (History.Tier tier : history.tiers()) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("step", tier.step());
      members.put("seconds", tier.seconds());
      members.put("since", tier.since());
      tiers.add(members);
    }
    answer.put("tiers", tiers);
    return answer;
  }

  private static Map<String, Object> columns(Columns of) {
    List<Long> time = new ArrayList<>(of.points());
    List<Long> millis = new ArrayList<>(of.points());
    for (int i = 0; i < of.points(); i++) {
      time.add(of.time(i));
      millis.add(of.millis(i));
    }
    Map<String, Object> columns = new LinkedHashMap<>();
    columns.put("time", time);
    columns.put("millis", millis);
    for (int i = 0; i < of.names().size(); i++) {
      columns.put(of.names().get(i), of.column(i));
    }
    return columns;
  }

  private AdminResponse rules(Call call) {
    Query query = call.query();
    long[] span = span(query);
    long points = query.number("points", DEFAULT_POINTS, 0, MAX_POINTS);
    History history = observed.insight().history();
    long narrowest = history.step(span[0], span[1], Columns.MAX_POINTS - 1);
    long wanted = Math.max(1, (span[1] - span[0]) / Math.max(1, points == 0 ? 60 : points));
    Window window = Window.of(span[0], span[1], multiple(wanted, narrowest));
    RuleTotals totals = history.rules(window.from, window.to, window.step);
    Map<String, Object> answer = head(window);
    answer.put("millis", totals.millis());
    answer.put("points", points == 0 ? 0 : (window.to - window.from) / window.step);
    Map<String, String> policies = policies();
    List<Map<String, Object>> rules = new ArrayList<>();
    for (RuleTotals.Total total : totals.totals()) {
      rules.add(rule(total, policies, points > 0));
    }
    answer.put("rules", rules);
    String same = "from=" + span[0] + "&to=" + span[1] + "&points=" + points;
    return fleet.answer(call, answer, same, StatsMerge::rules);
  }

  private static Map<String, Object> rule(
      RuleTotals.Total total, Map<String, String> policies, boolean spark) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("rule", total.rule());
    members.put("policy", policies.getOrDefault(total.rule(), total.rule()));
    for (int i = 0; i < Series.RULE.size(); i++) {
      members.put(Series.RULE.get(i), total.counts().get(i));
    }
    if (spark) {
      Map<String, Object> course = new LinkedHashMap<>();
      course.put("asked", total.asked());
      course.put("over", total.over());
      members.put("spark", course);
    }
    return members;
  }

  /** Returns the policies' names in answers, by the paths of rules. */
  private Map<String, String> policies() {
    Map<String, String> policies = new HashMap<>();
    for (Rule rule : engine.rules().rules()) {
      if (!rule.name().isEmpty()) {
        policies.put(rule.path(), rule.name());
      }
    }
    return policies;
  }
}
