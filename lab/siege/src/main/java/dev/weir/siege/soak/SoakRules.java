package dev.weir.siege.soak;

import dev.weir.siege.SiegeRule;
import dev.weir.siege.cluster.Ration;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The rules of servers that share a Redis. */
public final class SoakRules {
  static final SiegeRule STRICT =
      SiegeRule.shared("strict", 40, Duration.ofSeconds(2), "store: redis");

  /** The rule whose limit changes during the soak. */
  private static final SiegeRule FLAPPING =
      SiegeRule.shared("flapping", 40, Duration.ofSeconds(2), "store: redis");

  /** All rules of the rule file. */
  public static final List<SiegeRule> ALL =
      List.of(
          STRICT,
          new SiegeRule(
              "leased",
              60,
              Duration.ofSeconds(3),
              "store: redis, consistency: leased, sync_interval: 200ms",
              true,
              Duration.ofMillis(200).toNanos(),
              0),
          new SiegeRule(
              "fallback",
              40,
              Duration.ofSeconds(2),
              "store: redis, on_failure: local, local_share: 50%",
              true,
              0,
              40),
          FLAPPING,
          SiegeRule.local("here", 30, Duration.ofSeconds(1), "store: local"),
          SiegeRule.local(
              "log", 20, Duration.ofSeconds(1), "store: local, algorithm: sliding-window-log"));

  /** The capacity of the bucket of {@code CL.THROTTLE}; it is full again after a window. */
  public static final int THROTTLE_BURST = 20;

  /** The bucket of {@code CL.THROTTLE}: when full, it admits twice its capacity in a window. */
  public static final SiegeRule THROTTLE =
      SiegeRule.shared("throttle", 2 * THROTTLE_BURST, Duration.ofSeconds(2), "");

  private SoakRules() {}

  /** Returns all rules that are watched: those of the rule file, and the bucket. */
  static List<SiegeRule> watched() {
    return Stream.concat(ALL.stream(), Stream.of(THROTTLE)).toList();
  }

  /** Returns the rule file; with the flapping limit at its full or half value. */
  static String file(boolean whole) {
    List<SiegeRule> rules =
        ALL.stream().map(each -> each.equals(FLAPPING) && !whole ? each.half() : each).toList();
    return SiegeRule.file(Ration.PERMITS, "store: local", rules);
  }
}
