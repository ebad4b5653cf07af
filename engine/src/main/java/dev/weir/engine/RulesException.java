package dev.weir.engine;

import dev.weir.rules.Problem;
import java.util.List;

/** Rules are sound for themselves, but the store cannot take them. */
public final class RulesException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  /** More problems than these are only counted in the message. */
  private static final int MAX_LISTED = 50;

  private final transient List<Problem> problems;

  /** The message lists the problems, one a line. */
  public RulesException(List<Problem> problems) {
    super(message(problems));
    this.problems = List.copyOf(problems);
  }

  private static String message(List<Problem> problems) {
    int listed = Math.min(problems.size(), MAX_LISTED);
    List<String> lines = problems.subList(0, listed).stream().map(Problem::toString).toList();
    int rest = problems.size() - listed;
    return String.join("\n", lines) + (rest == 0 ? "" : "\nand " + rest + " more");
  }

  /** Returns every problem, at the position of its rule. */
  public List<Problem> problems() {
    return problems;
  }
}
