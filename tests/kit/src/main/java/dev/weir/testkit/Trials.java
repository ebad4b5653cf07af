package dev.weir.testkit;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Trials of a property on random events. A failing run is made as short as possible and shown as a
 * table, with the seed that repeats it.
 */
public final class Trials {
  /** The system property that sets the seed of all random tests. */
  public static final String SEED_PROPERTY = "weir.seed";

  /**
   * The system property that sets how much the slow suites try: {@value #SAMPLE}, the default,
   * {@value #FULL} or {@value #LONG}.
   */
  public static final String TESTS_PROPERTY = "weir.tests";

  /** The value of {@link #TESTS_PROPERTY} for a sample of each slow suite. */
  public static final String SAMPLE = "sample";

  /** The value of {@link #TESTS_PROPERTY} for the whole of each slow suite. */
  public static final String FULL = "full";

  /** The value of {@link #TESTS_PROPERTY} for four times as much as {@link #FULL}. */
  public static final String LONG = "long";

  private static final int TIMES_LONGER = 4;

  /** The seed of all random tests in this process. */
  public static final long SEED = seed();

  /**
   * One trial.
   *
   * @param title the name of the trial, for people
   * @param events the events; the text of each is a row of the table
   * @param property throws {@link AssertionError} if it does not hold for the events; starts anew
   *     each time
   */
  public record Trial<T>(String title, List<T> events, Consumer<List<T>> property) {}

  private Trials() {}

  private static long seed() {
    Long set = Long.getLong(SEED_PROPERTY);
    long seed = set != null ? set : new SplittableRandom().nextLong();
    // Printed now, so that it is there even if a suite hangs before it has counted its runs.
    System.out.println("random tests: " + property(seed));
    return seed;
  }

  /**
   * Returns how many runs a slow suite makes in this process: {@code full} if {@link
   * #TESTS_PROPERTY} is {@value #FULL}, four times as many if it is {@value #LONG}, otherwise
   * {@code sample}.
   *
   * @param sample the runs of an everyday build, 1..full
   * @param full the runs of the full build
   * @throws IllegalArgumentException if the property has another value, or the sample another size
   */
  public static int runs(int sample, int full) {
    return runs(System.getProperty(TESTS_PROPERTY, SAMPLE), sample, full);
  }

  static int runs(String tests, int sample, int full) {
    if (sample < 1 || sample > full) {
      throw new IllegalArgumentException("sample: " + sample + " (expected: 1.." + full + ")");
    }
    return switch (tests) {
      case SAMPLE -> sample;
      case FULL -> full;
      case LONG -> Math.multiplyExact(full, TIMES_LONGER);
      default ->
          throw new IllegalArgumentException(
              TESTS_PROPERTY
                  + ": %s (expected: %s, %s or %s)".formatted(tests, SAMPLE, FULL, LONG));
    };
  }

  /** Returns the random numbers of a suite of one run. Prints one run and the seed. */
  public static SplittableRandom random(String name) {
    return random(name, 1);
  }

  /**
   * Returns the random numbers of a suite, which differ for each name. Prints how many runs it
   * makes, and the seed.
   *
   * @param runs how many times the suite begins anew, with an input or a state that it shares with
   *     no other run. A sequence of requests to one store is one run, however long it is.
   */
  public static SplittableRandom random(String name, long runs) {
    report(name, runs);
    return numbers(name);
  }

  /**
   * Returns the same random numbers as {@link #random(String, long)}, and prints nothing: for a
   * suite whose number of runs is known only at its end, when it calls {@link #report}.
   */
  public static SplittableRandom numbers(String name) {
    return new SplittableRandom(SEED ^ ((long) name.hashCode() << 32));
  }

  /** Prints how many runs a suite makes or made, and the seed. */
  public static void report(String name, long runs) {
    System.out.println(line(name, runs) + ", " + property(SEED));
  }

  /**
   * Prints how many runs a suite makes whose random numbers do not depend on the seed, and returns
   * their number.
   */
  public static int unseeded(String name, int runs) {
    System.out.println(line(name, runs));
    return runs;
  }

  /**
   * Returns a line in a fixed form, without separators of thousands, so that scripts can add the
   * numbers up.
   */
  static String line(String name, long runs) {
    return name + ": " + runs + (runs == 1 ? " run" : " runs");
  }

  private static String property(long seed) {
    return "-D" + SEED_PROPERTY + "=" + seed;
  }

  /**
   * Makes and runs {@code count} trials, and prints at the end how many were made.
   *
   * @throws AssertionError for the first that fails, with its shortest failing events
   */
  public static <T> void run(String name, int count, Function<SplittableRandom, Trial<T>> make) {
    SplittableRandom random = numbers(name);
    int made = 0;
    try {
      while (made < count) {
        made++;
        Trial<T> trial = make.apply(random.split());
        if (failure(trial, trial.events()) != null) {
          throw shortest(name, trial);
        }
      }
    } finally {
      report(name, made);
    }
  }

  private static <T> AssertionError shortest(String name, Trial<T> trial) {
    List<T> events = Shrinker.minimal(trial.events(), some -> failure(trial, some) != null);
    Throwable cause = failure(trial, events);
    String reason = cause == null ? "passes when repeated" : String.valueOf(cause.getMessage());
    return new AssertionError(
        name + " (" + property(SEED) + "): " + trial.title() + "\n" + table(events) + reason,
        cause);
  }

  /** Returns the events as text, one numbered row each. */
  public static String table(List<?> events) {
    StringBuilder table = new StringBuilder();
    for (int i = 0; i < events.size(); i++) {
      table.append(String.format("%4d  %s%n", i + 1, events.get(i)));
    }
    return table.toString();
  }

  private static <T> @Nullable Throwable failure(Trial<T> trial, List<T> events) {
    try {
      trial.property().accept(events);
      return null;
    } catch (AssertionError | RuntimeException failure) {
      return failure;
    }
  }
}
