package dev.weir.rules.internal.parse;

import dev.weir.Algorithm;
import dev.weir.FullMode;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Throttle;
import dev.weir.rules.CostMode;
import dev.weir.rules.DidYouMean;
import dev.weir.rules.RuleDefaults;
import dev.weir.rules.StoreChoice;
import dev.weir.rules.internal.parse.YamlNode.Mapping;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A parser that reads a {@code rate_limit} and makes its policy. Used by one thread. */
public final class RateLimitParser {
  /** The most rules that one rule may replace; more are a mistake. */
  public static final int MAX_REPLACES = 100;

  /**
   * The multiple of the quota from which on a burst makes the quota meaningless for most callers.
   */
  private static final int LARGE_BURST = 10;

  /** The most keys of a rule, more than any machine holds. */
  private static final long MAX_KEYS = 1L << 40;

  private final String file;
  private final Problems problems;
  private final RuleTree tree;
  private final RuleDefaults defaults;

  RateLimitParser(String file, Problems problems, RuleTree tree, RuleDefaults defaults) {
    this.defaults = defaults;
    this.file = file;
    this.problems = problems;
    this.tree = tree;
  }

  void parse(Mapping mapping, RuleDraft draft) {
    int errorsBefore = problems.errors();
    Fields fields = new Fields(file, mapping, Place.RATE_LIMIT, problems);
    draft.limits = true;
    draft.name = fields.text("name", RuleParser.MAX_TEXT);
    draft.replaces = replaces(fields, draft);
    draft.unlimited = fields.flag("unlimited");
    if (draft.unlimited) {
      refuseBesideUnlimited(fields);
      return;
    }
    boolean seats = SeatFields.has(fields);
    draft.requestsPerUnit = seats ? SeatFields.permits(fields) : requests(fields);
    long windowNanos =
        seats ? SeatFields.holdNanos(fields) : WindowFields.nanos(fields, draft, problems);
    SubjectFields subjects = SubjectFields.read(fields, draft, problems);
    @Nullable Algorithm algorithm =
        seats ? Algorithm.CONCURRENCY : subjects.algorithm(algorithm(fields));
    long burst = burst(fields, algorithm);
    long granularityNanos = granularity(fields, windowNanos);
    @Nullable Throttle throttle = ThrottleParser.read(file, fields, problems);
    StoreFields sharing =
        StoreFields.read(fields, windowNanos == 0 ? Quota.MAX_WINDOW_NANOS : windowNanos, defaults);
    draft.queue = OnLimitParser.read(file, fields, seats ? 0 : draft.requestsPerUnit, problems);
    @Nullable CostMode costs = CostFields.read(fields, draft);
    long maxKeys = fields.has("max_keys") ? fields.number("max_keys", 1, MAX_KEYS) : Long.MAX_VALUE;
    @Nullable FullMode whenFull =
        fields.choice("when_full", List.of(FullMode.values()), FullMode.DENY);
    if (problems.errors() > errorsBefore
        || algorithm == null
        || throttle == null
        || costs == null
        || whenFull == null) {
      return;
    }
    draft.store = sharing.store();
    draft.costs = costs;
    draft.byLevel = subjects.level();
    draft.unknown = subjects.unknown();
    Policy.Builder builder =
        Policy.builder(new Quota(draft.requestsPerUnit, windowNanos))
            .name(draft.name.isEmpty() ? draft.path : draft.name)
            .algorithm(algorithm)
            .throttle(throttle)
            .maxKeys(maxKeys)
            .whenFull(whenFull);
    builder.sharing(sharing.sharing());
    if (burst >= 0) {
      builder.burst(burst);
    }
    if (granularityNanos > 0 && algorithm.granular()) { // For others there is only a warning.
      builder.granularity(Duration.ofNanos(granularityNanos));
    }
    build(builder, fields, draft);
    refuseOwnBurst(fields, draft);
    lint(fields, draft);
  }

  /**
   * Refuses a burst of its own: limits of other sizes share a bucket's state only if its burst is
   * its limit.
   */
  private static void refuseOwnBurst(Fields fields, RuleDraft draft) {
    Policy policy = draft.policy;
    if (policy != null
        && draft.byLevel != SubjectFields.NONE
        && policy.burst() != policy.quota().permits()) {
      fields.error("burst", "none beside by, or requests_per_unit; another is not yet counted");
    }
  }

  private void build(Policy.Builder builder, Fields fields, RuleDraft draft) {
    try {
      draft.policy = builder.build();
    } catch (IllegalArgumentException e) {
      // An option that the policy refuses is reported at its key.
      String message = String.valueOf(e.getMessage());
      String key =
          message.startsWith("burst")
              ? "burst"
              : message.startsWith("granularity")
                  ? "granularity"
                  : SeatFields.has(fields) ? SeatFields.CONCURRENCY : "requests_per_unit";
      problems.error(fields.position(key), message);
    }
  }

  private static void refuseBesideUnlimited(Fields fields) {
    for (String key : List.of("unit", "window", "unit_multiplier", "by", "unknown")) {
      if (fields.has(key)) {
        fields.error(key, "none beside unlimited");
      }
    }
    for (String key :
        List.of(
            "requests_per_unit",
            "concurrency",
            "hold",
            "algorithm",
            "burst",
            "granularity",
            "throttle",
            "on_limit",
            "costs",
            "store",
            "consistency",
            "sync_interval",
            "on_failure",
            "local_share",
            "max_keys",
            "when_full")) {
      if (fields.has(key)) {
        fields.warning(key, "none beside unlimited, it has no effect");
      }
    }
  }

  private List<String> replaces(Fields fields, RuleDraft draft) {
    List<String> names = new ArrayList<>();
    List<YamlNode> items = fields.list("replaces");
    if (items.size() > MAX_REPLACES) {
      problems.error(
          fields.position("replaces"),
          "replaces: %d entries (expected: at most %d)".formatted(items.size(), MAX_REPLACES));
      return names;
    }
    for (YamlNode item : items) {
      Mapping mapping = fields.item("replaces", item);
      if (mapping != null) {
        replaced(new Fields(file, mapping, Place.REPLACES, problems), draft, names);
      }
    }
    return names;
  }

  private void replaced(Fields entry, RuleDraft draft, List<String> names) {
    int errorsBefore = problems.errors();
    String name = entry.text("name", RuleParser.MAX_TEXT);
    if (name.isEmpty()) {
      if (problems.errors() == errorsBefore) {
        entry.error("name", "the name of another rule");
      }
    } else if (name.equals(draft.name)) {
      entry.error("name", "another rule, not this one");
    } else {
      names.add(name);
      tree.replaced(draft.domain, name, entry.position("name"));
    }
  }

  private static long requests(Fields fields) {
    if (!fields.hasValue("requests_per_unit")) {
      fields.warning(
          "requests_per_unit",
          "0.." + Quota.MAX_PERMITS + "; without it, as with 0, every request is refused");
      return 0;
    }
    return fields.number("requests_per_unit", 0, Quota.MAX_PERMITS);
  }

  /** Returns the algorithm of a rate, or null after reporting that there is none of that name. */
  private @Nullable Algorithm algorithm(Fields fields) {
    SeatFields.refuseBesideRate(fields);
    if (!fields.has("algorithm")) {
      return Algorithm.SLIDING_WINDOW;
    }
    String name = fields.text("algorithm", RuleParser.MAX_TEXT);
    List<String> names = new ArrayList<>();
    for (Algorithm algorithm : Algorithm.rates()) {
      if (algorithm.text().equals(name)) {
        return algorithm;
      }
      names.add(algorithm.text());
    }
    if (name.equals(Algorithm.CONCURRENCY.text())) {
      fields.error("algorithm", "concurrency: N, the permits that may be out at the same time");
      return null;
    }
    problems.error(
        fields.position("algorithm"),
        "algorithm: %s%s (expected: %s)"
            .formatted(
                fields.shown("algorithm"),
                DidYouMean.of(name.replace('_', '-'), names),
                String.join(", ", names)));
    return null;
  }

  /** Returns the burst, or -1 if there is none or it is wrong. */
  private static long burst(Fields fields, @Nullable Algorithm algorithm) {
    if (!fields.has("burst") || algorithm == null) {
      return -1;
    }
    if (!algorithm.bucket()) {
      fields.error(
          "burst", "none with " + algorithm + ", only token-bucket and leaky-bucket have one");
      return -1;
    }
    return fields.number("burst", 0, Quota.MAX_PERMITS);
  }

  /** Returns the granularity in nanoseconds, or 0 if there is none or it is wrong. */
  private static long granularity(Fields fields, long windowNanos) {
    if (!fields.has("granularity")) {
      return 0;
    }
    long window = windowNanos == 0 ? Quota.MAX_WINDOW_NANOS : windowNanos;
    long finest = (window + Policy.MAX_GRANULES - 1) / Policy.MAX_GRANULES;
    // In whole milliseconds, as in files; a window that is wrong itself allows all.
    long min = windowNanos == 0 ? 1 : (finest + 999_999) / 1_000_000 * 1_000_000;
    return fields.duration("granularity", min, window);
  }

  private static void lint(Fields fields, RuleDraft draft) {
    Policy policy = draft.policy;
    if (policy == null) {
      return;
    }
    CalendarUnits.lint(fields, draft.unit, draft.unitMultiplier);
    long permits = policy.quota().permits();
    if (permits == 0 && fields.hasValue(SeatFields.CONCURRENCY)) {
      fields.warning(SeatFields.CONCURRENCY, "at least 1; with 0 every request is refused");
    } else if (permits == 0 && fields.hasValue("requests_per_unit")) {
      fields.warning("requests_per_unit", "at least 1; with 0 every request is refused");
    } else if (fields.has("burst") && policy.burst() == 0) {
      fields.warning("burst", "at least 1; with 0 every request is refused");
    } else if (fields.has("burst") && policy.burst() / LARGE_BURST > permits) {
      fields.warning(
          "burst",
          "at most %d times requests_per_unit; one window can take burst + requests_per_unit - 1 = %d"
              .formatted(LARGE_BURST, most(policy.enforced())));
    }
    Throttle throttle = policy.throttle();
    boolean soft = !throttle.isHard() && !throttle.isElastic();
    long least = Math.min(permits, policy.burst());
    if (soft && least > 0 && throttle.tolerated(least) == 0) {
      fields.warning(
          "throttle", "a share of %d that is at least 1; nothing is tolerated".formatted(least));
    }
    OnLimitParser.lint(fields, draft, policy);
    if (draft.store == StoreChoice.SHARED) {
      for (String key : List.of("max_keys", "when_full")) {
        if (fields.has(key)) {
          fields.warning(
              key, "none with store: shared, it bounds only the keys that this process counts");
        }
      }
    }
    if (fields.has("granularity") && !hasGranules(policy)) {
      fields.warning(
          "granularity",
          "none, it has no effect on "
              + policy.algorithm()
              + (policy.algorithm() == Algorithm.SLIDING_WINDOW
                  ? " up to " + Policy.LOG_LIMIT + " requests"
                  : ""));
    }
  }

  /** Returns the permits that one window of a bucket can take: windows are half-open. */
  private static long most(Policy bucket) {
    return bucket.burst() + bucket.quota().permits() - 1;
  }

  private static boolean hasGranules(Policy policy) {
    return policy.algorithm() == Algorithm.SLIDING_WINDOW_BUCKETS
        || (policy.algorithm() == Algorithm.SLIDING_WINDOW
            && policy.enforced().quota().permits() > Policy.LOG_LIMIT);
  }
}
