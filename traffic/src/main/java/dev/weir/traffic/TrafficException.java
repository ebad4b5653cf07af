package dev.weir.traffic;

import java.util.List;

/**
 * Traffic that cannot be read, made or replayed: wrong options, rules or input. It lists everything
 * that is wrong.
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
   * @param problems one line a problem, in the same form
   */
  public TrafficException(List<String> problems) {
    super(String.join("\n", problems));
    this.problems = List.copyOf(problems);
  }

  /** Returns one line a problem, in the form {@code name: value (expected: constraint)}. */
  public List<String> problems() {
    return problems;
  }
}
