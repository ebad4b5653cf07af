package dev.weir.server.settings;

import java.util.List;

/** The reason why a server could not start, for the user who started it. */
public final class StartException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient List<String> problems;

  public StartException(String message) {
    super(message);
    problems = List.of(message);
  }

  public StartException(String message, Throwable cause) {
    super(message, cause);
    problems = List.of(message);
  }

  /** Makes an exception of problems, at least one. */
  public StartException(List<String> problems) {
    super(String.join("\n", problems));
    this.problems = List.copyOf(problems);
  }

  /** Returns every problem: {@code --port: 8080: in use (expected: a free port, or 0)}. */
  public List<String> problems() {
    return problems;
  }
}
