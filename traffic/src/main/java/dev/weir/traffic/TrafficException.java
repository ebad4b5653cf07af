package dev.weir.traffic;

import java.util.List;

/**
 * A failure to read, make or replay traffic: wrong options, rules or input. It lists all problems.
 */
public final class TrafficException extends Exception {
  private static final long serialVersionUID = 1;

  private final transient List<String> problems;

  /**
   * @param problem a line in the form {@code name: value (expected: constraint)}
   */
  public TrafficException(String problem) {
    this(List.of(problem));
  }

  /**
   * @param problems the problems, one line each, in the same form
   */
  public TrafficException(List<String> problems) {
    super(String.join("\n", problems));
    this.problems = List.copyOf(problems);
  }

  /**
   * Returns the problems, one line each, in the form {@code name: value (expected: constraint)}.
   */
  public List<String> problems() {
    return problems;
  }
}
