package dev.weir.cli.imports;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The limits of HAProxy: stick tables with a rate of requests, and rules that deny by them. */
final class HaproxyLimits {
  /*
   * How does HAProxy count? A line `track-sc0 KEY table T` counts the request in the table, also one
   * that a later line denies; a condition on sc_http_req_rate(0) reads the sum of the period, which
   * is that of the running one and a share of the one before. Behind the count, `gt L` lets L
   * requests of a period pass, and `ge L` one less. Before it, the number tracks nothing yet, so the line
   * denies nothing; but src_http_req_rate(T) looks the address up, without this request.
   * [HAProxy configuration manual, 11 and 7.3]
   *
   * A rule of Weir counts only what it admits, so a client that goes on is admitted sooner here.
   */

  private static final Pattern RATE = Pattern.compile("http_req_rate\\((\\w+)\\)");

  /** The rate of the key that a number tracks, in two forms. */
  private static final Pattern BY_NUMBER =
      Pattern.compile("sc(\\d)_http_req_rate|sc_http_req_rate\\((\\d+)\\)");

  /** The rate of the address in a table. */
  private static final Pattern BY_SOURCE =
      Pattern.compile("src_http_req_rate(?:\\(([\\w.-]+)\\))?");

  private static final Set<String> REFUSALS = Set.of("deny", "tarpit", "reject", "silent-drop");
  private static final Pattern TRACK = Pattern.compile("track-sc(\\d+)");

  /** A line that counts requests, and its table. */
  private record Tracker(HaproxySection.Line line, String number, String key, String table) {}

  /**
   * A line that denies by what a table has counted.
   *
   * @param permits the requests of a period that it lets pass
   */
  private record Use(
      HaproxySection section, HaproxySection.Line deny, Tracker counted, long permits) {}

  private final ImportedRules rules;
  private final Map<String, HaproxySection.Line> tables = new HashMap<>();

  /** The uses of each table. */
  private final Map<String, List<Use>> uses = new LinkedHashMap<>();

  private HaproxyLimits(ImportedRules rules) {
    this.rules = rules;
  }

  /** Adds a rule for each line that denies by a rate. */
  static void add(List<HaproxySection> sections, ImportedRules rules) {
    HaproxyLimits limits = new HaproxyLimits(rules);
    for (HaproxySection section : sections) {
      section.lines().stream()
          .filter(line -> line.begins("stick-table"))
          .forEach(line -> limits.tables.put(section.name(), line));
    }
    sections.forEach(limits::section);
    limits.uses.forEach(limits::rule);
  }

  private void section(HaproxySection section) {
    Map<String, HaproxySection.Line> conditions = new HashMap<>();
    List<Tracker> tracked = new ArrayList<>();
    for (HaproxySection.Line line : section.lines()) {
      if (line.begins("acl") && line.words().size() > 2) {
        conditions.put(line.words().get(1), line);
      }
      Tracker counted = tracked(section, line);
      if (counted != null) {
        tracked.add(counted);
      }
    }
    for (HaproxySection.Line line : section.lines()) {
      if (line.words().size() > 2 && line.words().stream().limit(3).anyMatch(REFUSALS::contains)) {
        deny(section, line, conditions, tracked);
      }
    }
  }

  /** Returns what a line of {@code http-request} or {@code tcp-request} counts; null if nothing. */
  private static @Nullable Tracker tracked(HaproxySection section, HaproxySection.Line line) {
    for (int i = 1; i <= 2 && i + 1 < line.words().size(); i++) {
      Matcher track = TRACK.matcher(line.words().get(i));
      if (track.matches()) {
        String table = line.behind("table", section.name());
        return new Tracker(line, track.group(1), line.words().get(i + 1), table);
      }
    }
    return null;
  }

  private void deny(
      HaproxySection section,
      HaproxySection.Line line,
      Map<String, HaproxySection.Line> conditions,
      List<Tracker> tracked) {
    int from = line.words().indexOf("if");
    List<String> words = from < 0 ? List.of() : line.words().subList(from + 1, line.words().size());
    List<String> condition = condition(words, conditions);
    Matcher byNumber = BY_NUMBER.matcher(condition.isEmpty() ? "" : condition.get(0));
    Matcher bySource = BY_SOURCE.matcher(condition.isEmpty() ? "" : condition.get(0));
    if (!byNumber.matches() && !bySource.matches()) {
      if (condition.stream().anyMatch(word -> word.contains("_rate"))) {
        rules.remark(line.place(), line + ": no rule is made of this condition");
      }
      return;
    }
    Long limit = condition.size() == 3 ? ConfigNumbers.whole(condition.get(2)) : null;
    if (limit == null || !condition.get(1).matches("gt|ge")) {
      rules.remark(
          line.place(),
          line + ": no rule is made of this condition (expected: sc_http_req_rate(N) gt NUMBER)");
      return;
    }
    Tracker counted =
        byNumber.matches()
            ? byNumber(tracked, byNumber, line)
            : bySource(section, tracked, bySource);
    if (counted == null) {
      rules.remark(
          line.place(),
          line + ": limits nothing, since no line tracks that before it: no rule is made of it");
      return;
    }
    // A request that is looked up before it is counted does not count itself.
    boolean countsItself = counted.line().place().line() < line.place().line();
    long most = condition.get(1).equals("gt") ? limit : limit - 1;
    uses.computeIfAbsent(counted.table(), table -> new ArrayList<>())
        .add(new Use(section, line, counted, Math.max(0, countsItself ? most : most + 1)));
  }

  /** Returns what the counter of a number counts; the first line before the condition does. */
  private static @Nullable Tracker byNumber(
      List<Tracker> tracked, Matcher counter, HaproxySection.Line line) {
    String number = counter.group(1) == null ? counter.group(2) : counter.group(1);
    return tracked.stream()
        .filter(each -> each.number().equals(number))
        .filter(each -> each.line().place().line() < line.place().line())
        .findFirst()
        .orElse(null);
  }

  /** Returns what a table counts by the address; a line behind the condition may do it as well. */
  private static @Nullable Tracker bySource(
      HaproxySection section, List<Tracker> tracked, Matcher counter) {
    String table = counter.group(1) == null ? section.name() : counter.group(1);
    return tracked.stream()
        .filter(each -> each.key().equals("src") && each.table().equals(table))
        .findFirst()
        .orElse(null);
  }

  /**
   * Returns a condition without braces, by its name if it has one; empty if it has several parts.
   */
  private static List<String> condition(
      List<String> words, Map<String, HaproxySection.Line> conditions) {
    if (words.size() == 1 && conditions.containsKey(words.get(0))) {
      List<String> named = conditions.get(words.get(0)).words();
      return named.subList(2, named.size());
    }
    boolean braces =
        words.size() > 2 && words.get(0).equals("{") && words.indexOf("}") == words.size() - 1;
    return braces ? words.subList(1, words.size() - 1) : words;
  }

  /** Adds the rule of a table, which is one counter, however many lines read it. */
  private void rule(String name, List<Use> all) {
    HaproxySection.Line table = tables.get(name);
    Duration period = table == null ? null : period(table, RATE);
    if (table == null || period == null || period.toMillis() == 0) {
      for (Use use : all) {
        rules.remark(
            use.deny.place(), use.deny + ": the table " + name + " has no http_req_rate here");
      }
      return;
    }
    long permits = all.stream().mapToLong(Use::permits).min().orElse(0);
    ImportedRule rule =
        new ImportedRule(rules.unusedKey(name)).comment(table.place() + ": " + table);
    for (Use use : all) {
      rule.comment(use.counted.line().place() + ": " + use.counted.line());
      rule.comment(use.deny.place() + ": " + use.deny);
      describe(rule, use);
      if (use.permits > permits) {
        rule.stricter("the number is the least of all uses; " + use.deny.place() + " has more");
      }
    }
    rule.rate(permits, period).field("algorithm", "sliding-window");
    rule.stricter(
        "never more than "
            + permits
            + " in any period, there up to twice as many around the end of one");
    rule.comment("There a refused request counts too; here a client that goes on passes sooner.");
    Duration expire = ConfigNumbers.time(table.behind("expire", "24d"), "ms");
    if (expire != null && expire.compareTo(period) < 0) {
      rule.stricter(
          "there the table forgets a key after "
              + table.behind("expire", "")
              + ", and with it what it has counted");
    }
    rules.add(rule);
  }

  /** Adds comments on the descriptor, and on the parts that a rule does not have. */
  private static void describe(ImportedRule rule, Use use) {
    String field = field(use.counted.key());
    if (field.isEmpty()) {
      rule.missing("the key is " + use.counted.key() + ": send its value as " + rule.key());
    } else {
      rule.comment(
          "Descriptor of a request of " + use.section.name() + ": " + rule.key() + "=" + field);
    }
    List<String> words = use.counted.line().words();
    if (words.contains("if") || words.contains("unless")) {
      rule.missing("the condition of the line that tracks: send no descriptor where it is false");
    }
    if (use.deny.words().contains("tarpit")) {
      rule.missing("the delay of a tarpit");
    }
  }

  private static @Nullable Duration period(HaproxySection.Line table, Pattern stored) {
    Matcher rate = stored.matcher(table.toString());
    return rate.find() ? ConfigNumbers.time(rate.group(1), "ms") : null;
  }

  /** Returns the field of a sample; empty if there is none. */
  private static String field(String sample) {
    Matcher of =
        Pattern.compile("(req\\.)?(hdr|fhdr|cook|url_param)\\(([\\w-]+)\\)").matcher(sample);
    if (of.matches()) {
      String kind =
          switch (of.group(2)) {
            case "cook" -> "cookie";
            case "url_param" -> "query";
            default -> "header";
          };
      String name = kind.equals("header") ? of.group(3).toLowerCase(Locale.ROOT) : of.group(3);
      return "{" + kind + ":" + name + "}";
    }
    return switch (sample) {
      case "src" -> "{ip}";
      case "path" -> "{path}";
      case "method" -> "{method}";
      case "base32+src", "url32+src" -> "{path}{ip}";
      default -> "";
    };
  }
}
