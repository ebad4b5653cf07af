package dev.weir.cluster.sim;

import dev.weir.cluster.Policies;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A fault in a run. It is data, so that a run can be repeated with some of its faults.
 *
 * @param number among all faults of the seed
 * @param choices the seed of all random choices in it, such as its victim
 */
record SimFault(int number, Kind kind, long atNanos, long choices) {
  private static final long MILLI = Policies.MILLI;
  private static final long FIRST_NANOS = 1_500 * MILLI;
  static final long LAST_NANOS = 5_500 * MILLI;

  /** The kinds of faults. */
  enum Kind {
    CRASH,
    POWER,
    PAUSE,
    ISOLATE,
    CUT,
    ELECT,
    STEP_WALL,
    SLOW,
    WIPE,
    LOSS,
    LATE,
    SERVER,
    RULE,
    MOVE,
    CALENDAR
  }

  private static final List<Kind> KINDS = new ArrayList<>(List.of(Kind.values()));

  static {
    KINDS.addAll(List.of(Kind.PAUSE, Kind.CUT, Kind.MOVE, Kind.MOVE));
  }

  /** Returns the faults of a seed: with a defect, often those that bring it to light. */
  static List<SimFault> of(long seed, Defect defect) {
    Kind[] telling =
        switch (defect) {
          case ANSWERS_BEFORE_COMMIT -> new Kind[] {Kind.ISOLATE};
          case WIPED_VOTER -> new Kind[] {Kind.ISOLATE, Kind.WIPE};
          case UNFLUSHED_ACKS -> new Kind[] {Kind.POWER};
          case WALL_CLOCK_STAMPS -> new Kind[] {Kind.ELECT, Kind.STEP_WALL};
          case WALL_CLOCK_ALLOTMENTS -> new Kind[] {Kind.STEP_WALL};
          case ACTIVATE_BEFORE_FREEZE, MOVE_WITHOUT_SHIFT -> new Kind[] {Kind.MOVE};
          case TIME_GOES_BACK, CALENDAR_OF_ANY_CLOCK -> new Kind[] {Kind.ELECT};
          case BUNDLE_RETRIED -> new Kind[] {Kind.SLOW};
          default -> new Kind[0];
        };
    SplittableRandom random = new SplittableRandom(seed ^ 0x5eedfa17L);
    long mean = between(random, 40 * MILLI, 500 * MILLI);
    List<SimFault> faults = new ArrayList<>();
    long at = FIRST_NANOS;
    while (true) {
      at += between(random, mean / 4, mean * 4);
      if (at > LAST_NANOS) {
        return faults;
      }
      boolean tells = telling.length > 0 && random.nextBoolean();
      List<Kind> kinds = tells ? List.of(telling) : KINDS;
      Kind kind = kinds.get(random.nextInt(kinds.size()));
      faults.add(new SimFault(faults.size(), kind, at, random.nextLong()));
    }
  }

  /** Returns a random length of time between two; small ones are as likely as large ones. */
  static long between(SplittableRandom random, long leastNanos, long mostNanos) {
    double span = Math.log((double) mostNanos / leastNanos);
    return (long) (leastNanos * Math.exp(span * random.nextDouble()));
  }

  /** Returns the duration of a fault. */
  static long time(SplittableRandom random) {
    return between(random, 10 * MILLI, 4_000 * MILLI);
  }
}
