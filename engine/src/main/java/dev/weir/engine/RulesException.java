package dev.weir.engine;

import dev.weir.rules.Problem;
import java.util.List;

/** An exception for rules that have no errors in themselves, but that the store cannot take. */
public final class RulesException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  /** The most problems in the message; any more are only counted there. */
  private static final int MAX_LISTED = 50;

  private final transient List<Problem> problems;

  /** Creates an exception whose message lists the problems, one a line. */
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
