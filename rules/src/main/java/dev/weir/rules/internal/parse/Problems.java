package dev.weir.rules.internal.parse;

import dev.weir.rules.Position;
import dev.weir.rules.Problem;
import dev.weir.rules.Severity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A collection of problems, each once. Used by one thread. */
public final class Problems {
  /**
   * The most problems that are kept, more than a person reads: a hostile file must not fill the
   * memory or the log.
   */
  public static final int MAX_PROBLEMS = 1_000;

  private final Set<Problem> found = new LinkedHashSet<>();
  private final Set<Problem> hints = new LinkedHashSet<>();
  private final Map<String, Integer> fileOrder = new HashMap<>();
  private int errors;
  private int dropped;

  /** Marks the start of a file, whose problems come after those of the files before it. */
  public void startFile(String file) {
    fileOrder.putIfAbsent(file, fileOrder.size());
  }

  public void error(Position position, String message) {
    errors++;
    add(new Problem(Severity.ERROR, position, message));
  }

  void warning(Position position, String message) {
    add(new Problem(Severity.WARNING, position, message));
  }

  /** Adds a warning that matters only if there is no error at all. */
  void hint(Position position, String message) {
    if (hints.size() < MAX_PROBLEMS) {
      hints.add(new Problem(Severity.WARNING, position, message));
    }
  }

  void add(Problem problem) {
    if (found.size() < MAX_PROBLEMS) {
      found.add(problem);
    } else {
      dropped++;
    }
  }

  /** Returns how many errors were reported so far, including those that were too many to keep. */
  public int errors() {
    return errors;
  }

  /** Returns the problems in the order of files and lines. */
  public List<Problem> sorted() {
    if (errors == 0) {
      hints.forEach(this::add);
    }
    List<Problem> sorted = new ArrayList<>(found);
    sorted.sort(
        Comparator.<Problem>comparingInt(p -> fileOrder.getOrDefault(p.position().file(), -1))
            .thenComparingInt(p -> p.position().line())
            .thenComparingInt(p -> p.position().column()));
    if (dropped > 0) {
      Position last = Position.ofFile(sorted.get(sorted.size() - 1).position().file());
      Severity severity = errors > 0 ? Severity.ERROR : Severity.WARNING;
      sorted.add(
          new Problem(
              severity,
              last,
              "problems: at least %s more (expected: none; the first %s are listed)"
                  .formatted(Words.count(dropped), Words.count(MAX_PROBLEMS))));
    }
    return sorted;
  }
}
