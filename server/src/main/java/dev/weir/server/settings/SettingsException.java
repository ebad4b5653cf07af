package dev.weir.server.settings;

import java.util.List;

/** The problems of settings that cannot be used, one per line. */
public final class SettingsException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final transient List<String> problems;

  /** Makes an exception of problems, at least one. */
  public SettingsException(List<String> problems) {
    super(String.join("\n", problems));
    this.problems = List.copyOf(problems);
  }

  /** Returns every problem: {@code --port: 99999 (expected: 0..65535)}. */
  public List<String> problems() {
    return problems;
  }
}
