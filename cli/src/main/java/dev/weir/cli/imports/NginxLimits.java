package dev.weir.cli.imports;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The limits of nginx: {@code limit_req} and {@code limit_conn}. */
final class NginxLimits {
  /*
   * How does nginx count? A key has an excess, in thousandths of a request. A request adds 1,000,
   * and time takes away the rate; one that finds more than the burst is refused, and adds nothing.
   * The first of a key adds nothing either. So a burst of B is a bucket of B + 1, and the rate,
   * whole thousandths of a request a second, its refill. Without nodelay, requests beyond the
   * delay's number are held back until their turn: a queue. [ngx_http_limit_req_module.c]
   *
   * One zone is one counter, wherever it is used: so a zone is a rule, and its key the descriptor's
   * value. Where its uses have several bursts, the least is taken: a rule does not see the place.
   */

  private static final Pattern RATE = Pattern.compile("(\\d+)(r/s|r/m)?");
  private static final long THOUSAND = 1_000;

  /** The longest wait of a queue. */
  private static final long MOST_WAIT_SECONDS = 60;

  private static final long MOST_SEATS = 65_536;

  /** The blocks in which limits may be. */
  private static final Set<String> LEVELS =
      Set.of("http", "server", "location", "if", "limit_except");

  /** A level of the configuration, within others. */
  private record Level(NginxDirective block, @Nullable Level outer) {
    /** Returns the value of a directive here or further out; the default if there is none. */
    String setting(String name, String otherwise) {
      return block
          .each(name)
          .map(each -> each.words().size() > 1 ? each.words().get(1) : otherwise)
          .findFirst()
          .orElseGet(() -> outer == null ? otherwise : outer.setting(name, otherwise));
    }

    String text() {
      if (block.name().equals("http")) {
        return "every server and location without one of its own";
      }
      String own = block.toString();
      if (block.name().equals("server")) {
        own = "server " + block.each("server_name").findFirst().map(NginxLimits::names).orElse("");
      }
      return outer == null || outer.block.name().equals("http")
          ? own.strip()
          : outer.text() + ", " + own.strip();
    }
  }

  /** A use of a zone. */
  private record Use(NginxDirective directive, Level level) {
    String text() {
      List<String> without = new ArrayList<>();
      own(level.block(), without);
      return directive.place()
          + ": "
          + directive
          + "; "
          + level.text()
          + (without.isEmpty() ? "" : ", but not in " + String.join(", ", without));
    }

    /** Adds the blocks within that have limits of their own, so that this one is off there. */
    private void own(NginxDirective block, List<String> without) {
      for (NginxDirective each : block.block()) {
        if (LEVELS.contains(each.name()) && each.has(directive.name())) {
          without.add(each.toString());
        } else if (LEVELS.contains(each.name()) && !each.name().equals("server")) {
          own(each, without);
        }
      }
    }
  }

  private final ImportedRules rules;
  private final List<Use> uses = new ArrayList<>();

  private NginxLimits(ImportedRules rules) {
    this.rules = rules;
  }

  /** Adds a rule for each zone that is used. */
  static void add(NginxDirective main, ImportedRules rules) {
    NginxLimits limits = new NginxLimits(rules);
    // A file that is included in http, alone, has no http of its own.
    List<NginxDirective> https = main.each("http").toList();
    for (NginxDirective http : https.isEmpty() ? List.of(main) : https) {
      limits.uses.clear();
      limits.collect(new Level(http, null));
      limits.zones(http);
    }
  }

  private static String names(NginxDirective serverName) {
    return String.join(" ", serverName.arguments());
  }

  private void collect(Level level) {
    for (NginxDirective each : level.block().block()) {
      switch (each.name()) {
        case "limit_req", "limit_conn" -> uses.add(new Use(each, level));
        case "limit_rate", "limit_rate_after" ->
            rules.remark(each.place(), each + ": bandwidth (no rule is made of it)");
        default -> {}
      }
      if (LEVELS.contains(each.name())) {
        collect(new Level(each, level));
      }
    }
  }

  private void zones(NginxDirective http) {
    for (NginxDirective zone : http.block()) {
      boolean requests = zone.name().equals("limit_req_zone");
      if (requests || zone.name().equals("limit_conn_zone")) {
        String name = zone.argument("zone", "").split(":", 2)[0];
        List<Use> effective = effective(requests ? "limit_req" : "limit_conn", name);
        if (zone.arguments().isEmpty() || name.isEmpty()) {
          rules.remark(zone.place(), zone + ": no zone (expected: KEY zone=NAME:SIZE)");
        } else if (effective.isEmpty()) {
          rules.remark(zone.place(), "zone " + name + ": limits nothing, so no rule is made of it");
        } else if (requests) {
          rate(zone, name, effective, http);
        } else {
          connections(zone, name, effective, http);
        }
      }
    }
    for (Use use : uses) {
      rules.remark(use.directive.place(), use.directive + ": its zone is not defined here");
    }
  }

  /** Takes the uses of a zone out of all, and returns those that limit something. */
  private List<Use> effective(String directive, String zone) {
    List<Use> found = new ArrayList<>();
    for (Use use : List.copyOf(uses)) {
      if (use.directive.name().equals(directive) && zone(use.directive).equals(zone)) {
        uses.remove(use);
        if (use.level.block().has("return")) {
          rules.remark(
              use.directive.place(),
              use.directive + ": limits nothing, since the block answers by return before it");
        } else {
          found.add(use);
        }
      }
    }
    return found;
  }

  /** Returns the key of a zone: all arguments that name no setting. */
  private static String key(NginxDirective zone) {
    return zone.arguments().stream()
        .filter(each -> !each.matches("(zone|rate)=.*|sync"))
        .collect(Collectors.joining());
  }

  private ImportedRule rule(
      NginxDirective zone, String name, List<Use> effective, NginxDirective http) {
    ImportedRule rule = new ImportedRule(rules.unusedKey(name));
    rule.comment(zone.place() + ": " + zone);
    effective.forEach(use -> rule.comment(use.text()));
    effective.stream()
        .flatMap(NginxLimits::beside)
        .distinct()
        .forEach(
            other ->
                rule.comment(
                    "Together with " + other + ": one request has both descriptors, as there."));
    NginxKey key = NginxKey.of(key(zone), http);
    if (key.missing().isEmpty()) {
      rule.comment("Descriptor of a request there: " + rule.key() + "=" + key.template());
    } else {
      rule.missing(
          "the key is made of "
              + String.join(" and ", key.missing())
              + ": send its value as "
              + rule.key()
              + ", and nothing where it is empty");
    }
    if (key.chosen()) {
      rule.comment(
          "Clients choose the key; there, who changes it or leaves it out is not limited.");
    }
    return rule;
  }

  /** Returns the zones of the limits of the same kind and level. */
  private static Stream<String> beside(Use use) {
    return use.level
        .block()
        .each(use.directive.name())
        .filter(other -> !other.equals(use.directive))
        .map(NginxLimits::zone);
  }

  /** Returns the zone that a limit uses. */
  private static String zone(NginxDirective limit) {
    return limit.name().equals("limit_req")
        ? limit.argument("zone", "")
        : limit.arguments().stream().findFirst().orElse("");
  }

  private void rate(NginxDirective zone, String name, List<Use> effective, NginxDirective http) {
    Matcher rate = RATE.matcher(zone.argument("rate", "1r/s"));
    if (!rate.matches() || rate.group(1).length() > 9 || Long.parseLong(rate.group(1)) == 0) {
      rules.remark(zone.place(), zone + ": no rate (expected: a whole number of r/s or r/m)");
      return;
    }
    long perMinute = "r/m".equals(rate.group(2)) ? 60 : 1;
    long thousandths = Long.parseLong(rate.group(1)) * THOUSAND / perMinute;
    ImportedRule rule = rule(zone, name, effective, http);
    if (thousandths * perMinute != Long.parseLong(rate.group(1)) * THOUSAND) {
      BigDecimal inAMinute = BigDecimal.valueOf(thousandths * 60, 3).stripTrailingZeros();
      rule.comment(
          "nginx keeps whole thousandths a second: " + inAMinute.toPlainString() + " a minute.");
    }
    long burst = effective.stream().mapToLong(NginxLimits::burst).min().orElseThrow();
    long delay = effective.stream().mapToLong(NginxLimits::delay).min().orElseThrow();
    for (Use use : effective) {
      if (burst(use) > burst || delay(use) > delay) {
        rule.stricter("the burst is the least of all uses; " + use.directive.place() + " has more");
      }
    }
    long queued = burst - delay;
    long most = thousandths * MOST_WAIT_SECONDS / THOUSAND;
    if (queued > most) {
      rule.stricter("a request waits for a minute at most, so " + most + " wait, not " + queued);
      queued = most;
    }
    bucket(rule, thousandths, delay, queued);
    settings(rule, effective, "limit_req");
    rules.add(rule);
  }

  /** Sets a bucket of a size of {@code delay} and one, and a queue. */
  private static void bucket(ImportedRule rule, long thousandths, long delay, long queued) {
    BigInteger common = BigInteger.valueOf(thousandths).gcd(BigInteger.valueOf(THOUSAND));
    long permits = thousandths / common.longValueExact();
    long seconds = THOUSAND / common.longValueExact();
    rule.bucket(permits, Duration.ofSeconds(seconds), delay + 1, queued);
    if (queued > 0) {
      long wait = (queued * THOUSAND + thousandths - 1) / thousandths;
      rule.field("on_limit", "{queue: {requests: " + queued + ", wait: " + wait + "s}}");
      rule.same(
          delay + 1 + " at once, " + queued + " more wait for their turn, then the rate as there");
    } else {
      rule.same(delay + 1 + " at once, then the rate, as there");
    }
  }

  private static long burst(Use use) {
    return number(use.directive.argument("burst", "0"));
  }

  /** Returns how many requests of a burst do not wait. */
  private static long delay(Use use) {
    boolean nodelay = use.directive.arguments().contains("nodelay");
    return nodelay
        ? burst(use)
        : Math.min(burst(use), number(use.directive.argument("delay", "0")));
  }

  private static long number(String text) {
    return text.matches("\\d{1,9}") ? Long.parseLong(text) : 0;
  }

  private void connections(
      NginxDirective zone, String name, List<Use> effective, NginxDirective http) {
    long least = Long.MAX_VALUE;
    for (Use use : effective) {
      List<String> arguments = use.directive.arguments();
      least = Math.min(least, number(arguments.size() > 1 ? arguments.get(1) : ""));
    }
    if (least == 0) {
      rules.remark(zone.place(), zone + ": no number (expected: limit_conn " + name + " NUMBER)");
      return;
    }
    ImportedRule rule = rule(zone, name, effective, http);
    rule.field("concurrency", Math.min(least, MOST_SEATS));
    rule.field("hold", "60s");
    if (least > MOST_SEATS) {
      rule.stricter(MOST_SEATS + " at the same time, the most there can be");
    } else {
      rule.same("at most " + least + " requests at the same time");
    }
    if (effective.size() > 1) {
      rule.comment("The number is the least of all its uses.");
    }
    settings(rule, effective, "limit_conn");
    rules.add(rule);
  }

  private static void settings(ImportedRule rule, List<Use> effective, String directive) {
    List<Use> dry =
        effective.stream()
            .filter(use -> use.level.setting(directive + "_dry_run", "off").equals("on"))
            .toList();
    if (dry.size() == effective.size()) {
      rule.comment(directive + "_dry_run is on, so the rule refuses nothing.");
      rule.shadow();
    } else if (!dry.isEmpty()) {
      rule.stricter(directive + "_dry_run is on for " + dry.get(0).directive.place() + " only");
    }
    String status = effective.get(0).level.setting(directive + "_status", "503");
    if (!status.equals("429")) {
      rule.comment("Weir answers a refusal by 429, nginx by " + status + ".");
    }
  }
}
