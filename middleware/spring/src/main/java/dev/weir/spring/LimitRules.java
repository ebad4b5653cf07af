package dev.weir.spring;

import dev.weir.rules.Problem;
import dev.weir.rules.RuleDefaults;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The limits of {@code weir.limits} as rules. They are written as a rule file and read like any
 * other, so that options, errors and explanations are the same. Immutable.
 */
final class LimitRules {
  /*
   * Each option is on a line of its own, so that a problem's line leads back to its property. A
   * limit by address is `limit=NAME, ip=ADDRESS`. The annotation sends `name=NAME` and, if it has a
   * key, `key=KEY` behind it; both have the limit.
   */

  /** The name in positions. */
  static final String FILE = "weir.limits";

  private static final Pattern SIMPLE_NAME = Pattern.compile("[A-Za-z0-9-]+");

  /** The texts that YAML reads as one plain value; all others are put between quotes. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9+][A-Za-z0-9_.%+-]*|-[0-9.]+");

  private static final Pattern THROTTLE = Pattern.compile("(soft|elastic)[ :]+(\\S+)");

  private static final Pattern EXPECTED = Pattern.compile("\\(expected: (.*)\\)$", Pattern.DOTALL);

  private record Origin(String property, @Nullable String value) {}

  private final StringBuilder yaml = new StringBuilder();
  private final Map<Integer, Origin> origins = new TreeMap<>();
  private int lines;

  private LimitRules() {}

  /** Returns the rules, or the problems of the limits. */
  static Rules.LoadResult load(String domain, Map<String, LimitProperties> limits) {
    return Rules.parse(FILE, of(domain, limits).yaml.toString(), RuleDefaults.DENY);
  }

  /** Returns the beginning of the names of a limit's properties. */
  static String property(String name) {
    return FILE + (SIMPLE_NAME.matcher(name).matches() ? "." + name : "[" + name + "]") + ".";
  }

  /** Returns the rule file. */
  static String text(String domain, Map<String, LimitProperties> limits) {
    return of(domain, limits).yaml.toString();
  }

  /**
   * Returns the rules.
   *
   * @throws WeirPropertiesException if a limit is wrong
   */
  static RuleSet rules(String domain, Map<String, LimitProperties> limits) {
    RuleSet rules = load(domain, limits).ruleSet();
    if (rules == null) {
      throw new WeirPropertiesException(problems(limits));
    }
    return rules;
  }

  /** Returns the problems, by the names of properties. */
  static List<PropertyProblem> problems(Map<String, LimitProperties> limits) {
    List<PropertyProblem> found = new ArrayList<>();
    limits.forEach(
        (name, limit) -> {
          boolean rate = limit.concurrency() == null;
          if (rate && limit.requests() == null) {
            found.add(new PropertyProblem(property(name) + "requests", null, "0..4294967295"));
          }
          if (rate && limit.per() == null) {
            found.add(
                new PropertyProblem(
                    property(name) + "per",
                    null,
                    "second, minute, hour, day, week, month, year, or a time such as 90s"));
          }
        });
    LimitRules written = of("app", limits);
    for (Problem problem : Rules.parse(FILE, written.yaml.toString()).problems()) {
      if (problem.severity() == Severity.ERROR) {
        found.add(written.named(problem));
      }
    }
    return found;
  }

  private PropertyProblem named(Problem problem) {
    Origin origin = origins.get(problem.position().line());
    Matcher expected = EXPECTED.matcher(problem.message());
    if (origin == null || !expected.find()) {
      return new PropertyProblem(FILE, null, problem.message());
    }
    return new PropertyProblem(origin.property, origin.value, expected.group(1));
  }

  private static LimitRules of(String domain, Map<String, LimitProperties> limits) {
    LimitRules rules = new LimitRules();
    rules.line(0, "domain: " + quoted(domain));
    rules.line(0, limits.isEmpty() ? "descriptors: []" : "descriptors:");
    limits.forEach(rules::limit);
    return rules;
  }

  private void limit(String name, LimitProperties limit) {
    if (LimitFilters.hasFilter(limit)) {
      key(1, LimitFilters.LIMIT);
      line(2, "value: " + quoted(name));
      int indent = 2;
      for (String source : LimitFilters.by(limit)) {
        line(indent, "descriptors:");
        key(indent + 1, source);
        indent += 2;
      }
      rateLimit(indent, name, limit);
    } else {
      key(1, "name");
      line(2, "value: " + quoted(name));
      rateLimit(2, name, limit);
      line(2, "descriptors:");
      key(3, "key");
      rateLimit(4, name, limit);
    }
  }

  private void rateLimit(int indent, String name, LimitProperties limit) {
    String root = property(name);
    option(indent, "shadow_mode", root + "shadow", limit.shadow());
    line(indent, "rate_limit:");
    int inner = indent + 1;
    line(inner, "name: " + quoted(name));
    option(inner, "requests_per_unit", root + "requests", limit.requests());
    String per = limit.per();
    boolean unit = per == null || per.isEmpty() || !Character.isDigit(per.charAt(0));
    option(inner, unit ? "unit" : "window", root + "per", per);
    option(inner, "concurrency", root + "concurrency", limit.concurrency());
    option(inner, "hold", root + "hold", limit.hold());
    option(inner, "algorithm", root + "algorithm", limit.algorithm());
    option(inner, "costs", root + "costs", limit.costs());
    option(inner, "burst", root + "burst", limit.burst());
    option(inner, "granularity", root + "granularity", limit.granularity());
    throttle(inner, root + "throttle", limit.throttle());
    option(inner, "store", root + "store", limit.store());
    option(inner, "consistency", root + "consistency", limit.consistency());
    option(inner, "sync_interval", root + "sync-interval", limit.syncInterval());
    option(inner, "on_failure", root + "on-failure", limit.onFailure());
    option(inner, "local_share", root + "local-share", limit.localShare());
    option(inner, "max_keys", root + "max-keys", limit.maxKeys());
    option(inner, "when_full", root + "when-full", limit.whenFull());
    LimitProperties.Queue queue = limit.queue();
    if (queue != null) {
      line(inner, "on_limit:", new Origin(root + "queue", null));
      line(inner + 1, "queue:", new Origin(root + "queue", null));
      option(inner + 2, "requests", root + "queue.requests", queue.requests());
      option(inner + 2, "wait", root + "queue.wait", queue.longestWait());
    }
  }

  private void throttle(int indent, String property, @Nullable String value) {
    Matcher share = THROTTLE.matcher(value == null ? "" : value);
    if (share.matches()) {
      String text = "throttle: {" + share.group(1) + ": " + scalar(share.group(2)) + "}";
      line(indent, text, new Origin(property, value));
    } else {
      option(indent, "throttle", property, value);
    }
  }

  private void option(int indent, String key, String property, @Nullable String value) {
    if (value != null) {
      line(indent, key + ": " + scalar(value), new Origin(property, value));
    }
  }

  private void key(int indent, String key) {
    line(indent, "- key: " + quoted(key));
  }

  private void line(int indent, String text, Origin origin) {
    line(indent, text);
    origins.put(lines, origin);
  }

  private void line(int indent, String text) {
    yaml.append("  ".repeat(indent)).append(text).append('\n');
    lines++;
  }

  private static String scalar(String value) {
    return PLAIN.matcher(value).matches() ? value : quoted(value);
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (Character.isISOControl(c) || c == '\u2028' || c == '\u2029' || c == '\uFEFF') {
        String hex = Integer.toHexString(c);
        quoted.append("\\u").append("0".repeat(4 - hex.length())).append(hex);
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
