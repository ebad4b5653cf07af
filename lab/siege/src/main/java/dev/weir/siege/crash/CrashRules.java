package dev.weir.siege.crash;

import dev.weir.siege.SiegeRule;
import dev.weir.siege.cluster.Ration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The rules of a server that is killed. */
final class CrashRules {
  /** A window beside which a siege is an instant: no permit comes back. */
  private static final Duration LONG = Duration.ofDays(300);

  private static final Duration OTHER = Duration.ofDays(200);
  private static final Duration SHORT = Duration.ofSeconds(2);

  /** A rule with few permits, so that there are always new keys. */
  private static final SiegeRule GROWING = rule("growing", 1, "sliding-window-log");

  /** The rules whose limits change. */
  private static final List<SiegeRule> FLAPPING =
      List.of(
          rule("flapping-log", 40, "sliding-window-log"),
          rule("flapping-buckets", 80, "sliding-window-buckets"),
          rule("flapping-fixed", 40, "fixed-window"));

  /** A bucket whose limit changes: its keys keep the share that is used. */
  private static final SiegeRule FLAPPING_BUCKET = rule("flapping-token", 40, "token-bucket");

  /** The rule whose window changes. */
  private static final SiegeRule SHIFTING = rule("shifting", 40, "sliding-window-log");

  /** Two rules that are also asked together. */
  static final SiegeRule WIDE = rule("wide", 60, "sliding-window-buckets");

  static final SiegeRule NARROW = rule("narrow", 30, "token-bucket");

  /** The bucket of {@code CL.THROTTLE}. */
  static final SiegeRule THROTTLE = SiegeRule.local(Ration.RULE, Ration.PERMITS, LONG, "");

  /** The rules of which no permit comes back during a siege. */
  static final List<SiegeRule> COUNTED =
      Stream.concat(
              FLAPPING.stream(),
              Stream.of(
                  FLAPPING_BUCKET,
                  GROWING,
                  SHIFTING,
                  NARROW,
                  rule("log", 30, "sliding-window-log"),
                  rule("window", 50, "sliding-window"),
                  rule("buckets", 200, "sliding-window-buckets"),
                  rule("counter", 40, "sliding-window-counter"),
                  rule("fixed", 40, "fixed-window"),
                  rule("token", 40, "token-bucket"),
                  rule("leaky", 40, "leaky-bucket")))
          .toList();

  /** The rules whose limits are reached again and again. */
  static final List<SiegeRule> RUNNING =
      List.of(
          SiegeRule.local("second-log", 40, SHORT, "algorithm: sliding-window-log"),
          SiegeRule.local("second-buckets", 300, SHORT, "algorithm: sliding-window-buckets"),
          SiegeRule.local(
              "second-queue",
              40,
              SHORT,
              "algorithm: sliding-window-log, on_limit: {queue: {requests: 20, wait: 1s}}"));

  private CrashRules() {}

  private static SiegeRule rule(String name, long permits, String algorithm) {
    return SiegeRule.local(name, permits, LONG, "algorithm: " + algorithm);
  }

  /** Returns the fewest permits of a rule that are ever in force. */
  static long leastPermits(SiegeRule rule) {
    if (rule.equals(FLAPPING_BUCKET)) {
      return rule.half().half().permits(); // Each change may round the share down.
    }
    return flaps(rule) ? rule.half().permits() : rule.permits();
  }

  private static boolean flaps(SiegeRule rule) {
    return FLAPPING.contains(rule) || rule.equals(FLAPPING_BUCKET);
  }

  /** Returns the rule file. */
  static String file(boolean half, boolean otherWindow) {
    List<SiegeRule> rules = new ArrayList<>();
    Stream.of(COUNTED, List.of(WIDE), RUNNING)
        .flatMap(List::stream)
        .map(each -> half && flaps(each) ? each.half() : each)
        .map(
            each ->
                otherWindow && each.equals(SHIFTING)
                    ? SiegeRule.local(each.name(), each.permits(), OTHER, each.options())
                    : each)
        .forEach(rules::add);
    return SiegeRule.file(Ration.PERMITS, "store: local", rules);
  }
}
