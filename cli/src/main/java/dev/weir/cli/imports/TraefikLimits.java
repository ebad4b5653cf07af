package dev.weir.cli.imports;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The limits of Traefik's middlewares {@code rateLimit} and {@code inFlightReq}, in a dynamic
 * configuration as YAML, or a Kubernetes resource {@code Middleware}.
 */
final class TraefikLimits {
  private static final Pattern RATE = Pattern.compile("(.*\\.)?ratelimit");
  private static final Pattern IN_FLIGHT = Pattern.compile("(.*\\.)?inflightreq");
  private static final long MOST_QUEUE_MILLIS = 500;
  private static final long SECOND = 1_000;

  private final ConfigProperties properties;
  private final ImportedRules rules;

  private TraefikLimits(ConfigProperties properties, ImportedRules rules) {
    this.properties = properties;
    this.rules = rules;
  }

  /** Adds a rule for each middleware. */
  static void add(ConfigProperties file, ImportedRules rules) {
    for (int document : file.documents()) {
      ConfigProperties properties = file.document(document);
      TraefikLimits limits = new TraefikLimits(properties, rules);
      properties.beginnings(RATE).forEach(limits::rate);
      properties.beginnings(IN_FLIGHT).forEach(limits::inFlight);
    }
  }

  /** Begins a rule with its place and key. */
  private ImportedRule begun(String path) {
    String[] names = path.split("\\.", -1);
    String name =
        names.length >= 2 && !names[names.length - 2].equals("spec")
            ? names[names.length - 2]
            : properties.text("metadata.name", "traefik");
    String key = rules.unusedKey(name);
    String source = path + ".sourceCriterion";
    String header = properties.text(source + ".requestHeaderName", "");
    String field = "{ip}";
    if (!header.isEmpty()) {
      field = "{header:" + header.toLowerCase(Locale.ROOT) + "}";
    } else if (properties.text(source + ".requestHost", "").equals("true")) {
      field = "{host}";
    }
    ImportedRule rule =
        new ImportedRule(key)
            .comment(properties.placeOf(path) + ": " + path)
            .comment("Descriptor of a request of its routers: " + key + "=" + field);
    if (properties.at(source + ".ipStrategy.depth") != null) {
      rule.comment(
          "The address is the one at a depth of "
              + properties.text(source + ".ipStrategy.depth", "")
              + " in X-Forwarded-For: set the trusted proxies of the middleware.");
    }
    return rule;
  }

  private void rate(String path) {
    SourcePlace place = properties.placeOf(path);
    Long average = ConfigNumbers.whole(properties.text(path + ".average", "0"));
    Long burst = ConfigNumbers.whole(properties.text(path + ".burst", "1"));
    Duration period = ConfigNumbers.time(properties.text(path + ".period", "1s"), "s");
    if (average == null || burst == null || period == null || period.toMillis() == 0) {
      rules.remark(place, path + ": a number or a time that cannot be read");
      return;
    }
    if (average == 0) {
      rules.remark(place, path + ": limits nothing, since average is 0: no rule is made of it");
      return;
    }
    ImportedRule rule = begun(path).bucket(average, period, Math.max(1, burst), 1);
    BigDecimal between =
        BigDecimal.valueOf(period.toMillis())
            .divide(BigDecimal.valueOf(2 * average), 0, RoundingMode.DOWN);
    long wait = Math.min(MOST_QUEUE_MILLIS, between.longValue());
    if (wait > 0) {
      rule.field("on_limit", "{queue: {requests: 1, wait: " + wait + "ms}}");
    }
    rule.same(Math.max(1, burst) + " at once, then the rate" + (wait > 0 ? "; one waits" : ""));
    if (BigDecimal.valueOf(average * SECOND).compareTo(BigDecimal.valueOf(period.toMillis()))
        >= 0) {
      rule.stricter("there a client that pauses for two seconds has a full burst again, here not");
    }
    rule.comment(
        "Each router has buckets of its own there; here all that send the descriptor share them.");
    rules.add(rule);
  }

  private void inFlight(String path) {
    Long amount = ConfigNumbers.whole(properties.text(path + ".amount", "0"));
    if (amount == null || amount == 0 || amount > 65_536) {
      rules.remark(
          properties.placeOf(path),
          path + ": no amount that a rule can have (expected: 1 to 65536): no rule is made of it");
      return;
    }
    rules.add(
        begun(path)
            .field("concurrency", amount)
            .field("hold", "60s")
            .same("at most " + amount + " requests at the same time"));
  }
}
