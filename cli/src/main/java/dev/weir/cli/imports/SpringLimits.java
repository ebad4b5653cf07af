package dev.weir.cli.imports;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The limits of Spring's configuration: Spring Cloud Gateway's {@code RequestRateLimiter},
 * Resilience4j's rate limiters and bulkheads, and the starter of Bucket4j.
 */
final class SpringLimits {
  private static final Pattern FILTER =
      Pattern.compile(
          "spring\\.cloud\\.gateway(\\.server\\.web(flux|mvc))?"
              + "(\\.routes\\[\\d+]\\.filters\\[\\d+]|\\.defaultfilters\\[\\d+])");

  private static final Pattern RATE_LIMITER =
      Pattern.compile("resilience4j\\.ratelimiter\\.instances\\.[^.\\[]+");

  private static final Pattern BULKHEAD =
      Pattern.compile("resilience4j\\.bulkhead\\.instances\\.[^.\\[]+");

  private static final Pattern BANDWIDTH =
      Pattern.compile("bucket4j\\.filters\\[\\d+]\\.ratelimits\\[\\d+]\\.bandwidths\\[\\d+]");

  private static final Duration MILLI = Duration.ofMillis(1);
  private static final long MOST_TOKENS = 1_000_000;
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final ConfigProperties properties;
  private final ImportedRules rules;

  private SpringLimits(ConfigProperties properties, ImportedRules rules) {
    this.properties = properties;
    this.rules = rules;
  }

  /** Adds a rule for each limit, of all documents of the file; a profile is named. */
  static void add(ConfigProperties file, ImportedRules rules) {
    for (int document : file.documents()) {
      ConfigProperties properties = file.document(document);
      SpringLimits limits = new SpringLimits(properties, rules);
      properties.beginnings(FILTER).forEach(limits::gateway);
      properties.beginnings(RATE_LIMITER).forEach(limits::rateLimiter);
      properties.beginnings(BULKHEAD).forEach(limits::bulkhead);
      properties.beginnings(BANDWIDTH).forEach(limits::bandwidth);
    }
  }

  /** Begins a rule with its place, and its profile if it has one. */
  private ImportedRule begun(ImportedRule rule, String path) {
    rule.comment(properties.placeOf(path) + ": " + path);
    String profile = properties.text("spring.config.activate.on-profile", "");
    if (!profile.isEmpty()) {
      rule.comment("Of the profile " + profile + " only.");
    }
    return rule;
  }

  private static String last(String path) {
    return path.substring(path.lastIndexOf('.') + 1);
  }

  private void gateway(String path) {
    String name = properties.text(path + ".name", properties.text(path, ""));
    if (!name.startsWith("RequestRateLimiter")) {
      return;
    }
    SourcePlace place = properties.placeOf(path);
    String limiter = path + ".args.redis-rate-limiter";
    Long rate = ConfigNumbers.whole(properties.text(limiter + ".replenishRate", ""));
    Long capacity = ConfigNumbers.whole(properties.text(limiter + ".burstCapacity", "1"));
    Long tokens = ConfigNumbers.whole(properties.text(limiter + ".requestedTokens", "1"));
    if (rate == null || capacity == null || tokens == null || tokens == 0 || rate == 0) {
      rules.remark(
          place,
          name
              + ": no numbers that can be read (expected: args with redis-rate-limiter's"
              + " replenishRate, and perhaps burstCapacity and requestedTokens)");
      return;
    }
    if (2 * capacity < rate) {
      rules.remark(
          place,
          "RequestRateLimiter: limits nothing, since a burstCapacity of "
              + capacity
              + " is less than half of replenishRate: no rule is made of it");
      return;
    }
    if (capacity < tokens) {
      rules.remark(
          place, "RequestRateLimiter: a request costs more than burstCapacity: it admits none");
      return;
    }
    String route = properties.text(ConfigProperties.parent(path) + ".id", "");
    String key = rules.unusedKey(route.isEmpty() ? "gateway" : route);
    ImportedRule rule = begun(new ImportedRule(key), path);
    rule.missing(
        "the key is made by "
            + properties.text(path + ".args.key-resolver", "the bean of type KeyResolver")
            + ": send its value as "
            + key
            + (route.isEmpty() ? ", for each route its own" : ""));
    rule.bucket(rate, Duration.ofSeconds(tokens), capacity / tokens, 0);
    rule.field("on_failure", "allow");
    rule.stricter(
        "it refills all the time, there at full seconds: up to "
            + rate
            + " may be refused that"
            + " pass there just behind one");
    rule.same("while the store is away, requests pass");
    rules.add(rule);
  }

  /** Returns a value of an instance of Resilience4j, of its base or of the default one. */
  private String resilience4j(String instance, String name, String otherwise) {
    String value = properties.text(instance + "." + name, "");
    String kind = ConfigProperties.parent(ConfigProperties.parent(instance));
    String base = properties.text(instance + ".baseConfig", "default");
    for (int depth = 0; value.isEmpty() && depth < 10; depth++) {
      value = properties.text(kind + ".configs." + base + "." + name, "");
      base = properties.text(kind + ".configs." + base + ".baseConfig", "default");
    }
    return value.isEmpty() ? otherwise : value;
  }

  private void rateLimiter(String path) {
    SourcePlace place = properties.placeOf(path);
    Long permits = ConfigNumbers.whole(resilience4j(path, "limitForPeriod", "50"));
    Duration period = ConfigNumbers.time(resilience4j(path, "limitRefreshPeriod", "500ns"), "ms");
    Duration timeout = ConfigNumbers.time(resilience4j(path, "timeoutDuration", "5s"), "ms");
    if (permits == null || period == null || timeout == null) {
      rules.remark(place, path + ": a number or a time that cannot be read");
      return;
    }
    if (period.compareTo(MILLI) < 0) {
      rules.remark(
          place,
          path
              + ": limits nothing, with "
              + permits
              + " in "
              + period.toNanos()
              + " ns (the default"
              + " of limitRefreshPeriod is 500 ns): no rule is made of it");
      return;
    }
    ImportedRule rule =
        begun(new ImportedRule(one("ratelimiter", last(path))), path)
            .comment("Descriptor of a call: ratelimiter=" + last(path));
    rule.rate(permits, whole(period, rule));
    rule.field("algorithm", "fixed-window");
    rule.same("up to twice the number around the end of a period, as there");
    queue(rule, permits, timeout, period);
    rules.add(rule);
  }

  private static Duration whole(Duration period, ImportedRule rule) {
    if (period.toNanosPart() % MILLI.toNanos() == 0) {
      return period;
    }
    rule.stricter("the period is a whole number of milliseconds, rounded up");
    return Duration.ofMillis(period.toMillis() + 1);
  }

  /** Sets a queue for callers that wait for as long as a timeout. */
  private static void queue(
      ImportedRule rule, long permits, Duration timeout, @Nullable Duration period) {
    if (timeout.compareTo(MILLI) < 0 || permits == 0) {
      return;
    }
    Duration wait = timeout.compareTo(MINUTE) < 0 ? timeout : MINUTE;
    rule.field(
        "on_limit", "{queue: {requests: " + permits + ", wait: " + ImportedRule.text(wait) + "}}");
    if (timeout.compareTo(MINUTE) > 0) {
      rule.stricter("a request waits for a minute at most");
    }
    if (period == null || timeout.compareTo(period) > 0) {
      rule.stricter("as many wait as the limit has permits, there all who come");
    }
  }

  private static List<ImportedRule.Level> one(String key, String value) {
    return List.of(new ImportedRule.Level(key, value));
  }

  private void bulkhead(String path) {
    Long calls = ConfigNumbers.whole(resilience4j(path, "maxConcurrentCalls", "25"));
    Duration wait = ConfigNumbers.time(resilience4j(path, "maxWaitDuration", "0"), "ms");
    if (calls == null || wait == null || calls > 65_536) {
      rules.remark(properties.placeOf(path), path + ": a number or a time that cannot be used");
      return;
    }
    ImportedRule rule =
        begun(new ImportedRule(one("bulkhead", last(path))), path)
            .comment("Descriptor of a call: bulkhead=" + last(path));
    rule.field("concurrency", calls);
    rule.field("hold", "60s");
    rule.same("at most " + calls + " calls at the same time; of all servers together with a store");
    queue(rule, calls, wait, null);
    rules.add(rule);
  }

  private void bandwidth(String path) {
    SourcePlace place = properties.placeOf(path);
    String limit = ConfigProperties.parent(path);
    String filter = ConfigProperties.parent(limit);
    Long capacity = ConfigNumbers.whole(properties.text(path + ".capacity", ""));
    Long refill =
        ConfigNumbers.whole(
            properties.text(path + ".refill-capacity", properties.text(path + ".capacity", "")));
    Long tokens = ConfigNumbers.whole(properties.text(limit + ".num-tokens", "1"));
    Duration time =
        ConfigNumbers.time(
            properties.text(path + ".time", "") + unit(properties.text(path + ".unit", "")), "s");
    if (capacity == null || refill == null || tokens == null || tokens == 0 || time == null) {
      rules.remark(place, path + ": a number or a time that cannot be read");
      return;
    }
    if (capacity < tokens || tokens > MOST_TOKENS || time.compareTo(MILLI) < 0 || refill == 0) {
      rules.remark(place, path + ": no limit that a rule can have: no rule is made of it");
      return;
    }
    String key = rules.unusedKey("bucket4j");
    ImportedRule rule = begun(new ImportedRule(key), path);
    rule.comment("Of requests to " + properties.text(filter + ".url", ".*"));
    rule.missing(
        "the key is the expression "
            + properties.text(limit + ".cache-key", properties.text(limit + ".expression", "1"))
            + ": send its value as "
            + key);
    if (properties.at(path + ".initial-capacity") != null) {
      rule.missing("initial-capacity: a new key may use its whole burst");
    }
    boolean interval =
        properties.text(path + ".refill-speed", "greedy").equalsIgnoreCase("interval");
    if (interval && capacity.equals(refill) && tokens == 1) {
      rule.rate(refill, time).field("algorithm", "fixed-window");
      rule.same(
          "up to twice the number around the end of a window; here windows begin by the clock");
    } else {
      rule.bucket(refill, time.multipliedBy(tokens), capacity / tokens, 0);
      if (interval) {
        rule.stricter(
            "permits come back one by one, there all at the end of " + time.toSeconds() + " s");
      } else {
        rule.same(capacity / tokens + " at once, then the rate, as there");
      }
    }
    rules.add(rule);
  }

  private static String unit(String unit) {
    return switch (unit.toLowerCase(Locale.ROOT)) {
      case "nanos" -> "ns";
      case "micros" -> "us";
      case "millis" -> "ms";
      case "seconds", "" -> "s";
      case "minutes" -> "m";
      case "hours" -> "h";
      case "days" -> "d";
      default -> "?";
    };
  }
}
