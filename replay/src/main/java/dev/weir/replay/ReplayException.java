package dev.weir.replay;

import java.util.List;

/** A replay that cannot start: wrong options, rules or input. Says everything that is wrong. */
public final class ReplayException extends Exception {
  private static final long serialVersionUID = 1;

  private final transient List<String> problems;

  ReplayException(String problem) {
    this(List.of(problem));
  }

  ReplayException(List<String> problems) {
    super(String.join("\n", problems));
    this.problems = List.copyOf(problems);
  }

  /** Returns one line a problem, in the form {@code name: value (expected: constraint)}. */
  public List<String> problems() {
    return problems;
  }
}
