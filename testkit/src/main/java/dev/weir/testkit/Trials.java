package dev.weir.testkit;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Tries a property on random events. A failing run is made as short as possible and shown as a
 * table, with the seed that repeats it.
 */
public final class Trials {
  /** The system property that sets the seed of all random tests. */
  public static final String SEED_PROPERTY = "weir.seed";

  /** The seed of all random tests in this process. */
  public static final long SEED = seed();

  /**
   * One try.
   *
   * @param title what is tried, for people
   * @param events what happens; each one's text is a row of the table
   * @param property throws {@link AssertionError} if it does not hold for the events; starts anew
   *     each time
   */
  public record Trial<T>(String title, List<T> events, Consumer<List<T>> property) {}

  private Trials() {}

  private static long seed() {
    Long set = Long.getLong(SEED_PROPERTY);
    return set != null ? set : new SplittableRandom().nextLong();
  }

  /** Returns the random numbers of a test, other ones for each name. Prints the seed. */
  public static SplittableRandom random(String name) {
    System.out.println(name + ": -D" + SEED_PROPERTY + "=" + SEED);
    return new SplittableRandom(SEED ^ ((long) name.hashCode() << 32));
  }

  /**
   * Makes and tries so many trials.
   *
   * @throws AssertionError for the first that fails, with its shortest failing events
   */
  public static <T> void run(String name, int count, Function<SplittableRandom, Trial<T>> make) {
    SplittableRandom random = random(name);
    for (int i = 0; i < count; i++) {
      Trial<T> trial = make.apply(random.split());
      if (failure(trial, trial.events()) != null) {
        throw shortest(name, trial);
      }
    }
  }

  private static <T> AssertionError shortest(String name, Trial<T> trial) {
    List<T> events = Shrinker.minimal(trial.events(), some -> failure(trial, some) != null);
    Throwable cause = failure(trial, events);
    String reason = cause == null ? "passes when repeated" : String.valueOf(cause.getMessage());
    String seed = "-D" + SEED_PROPERTY + "=" + SEED;
    return new AssertionError(
        name + " (" + seed + "): " + trial.title() + "\n" + table(events) + reason, cause);
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
