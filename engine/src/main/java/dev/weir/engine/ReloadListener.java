package dev.weir.engine;

import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import java.util.List;

/**
 * A receiver of the outcome of changed rules. Its methods are called by one thread at a time, and
 * must not block it for long.
 */
public interface ReloadListener {
  /** Returns a listener that writes to the platform's log, under the name of this package. */
  static ReloadListener logged() {
    return new LoggedReloads();
  }

  /**
   * Receives a rule set that is now in force.
   *
   * @param revision its number, counted from 1
   * @param changes the differences from the one before, a line each; empty if no rule differs
   * @param warnings about the rules
   */
  default void applied(
      long revision, RuleSet rules, List<String> changes, List<Problem> warnings) {}

  /** Receives the problems of a rule set with errors; the one before stays in force. */
  default void refused(long revision, List<Problem> problems) {}

  /**
   * Receives a failure of something other than a rule; it is tried again later.
   *
   * @param what the task that failed
   */
  default void failed(String what, Throwable error) {}
}
