package dev.weir.engine;

import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import java.util.List;

/**
 * Hears what becomes of rules that have changed. Its methods are called by one thread at a time,
 * and must not block it for long.
 */
public interface ReloadListener {
  /** Returns one that writes to the platform's log, under the name of this package. */
  static ReloadListener logged() {
    return new LoggedReloads();
  }

  /**
   * A rule set is in force.
   *
   * @param revision its number, counted from 1
   * @param changes what differs from the one before, a line each; empty if no rule does
   * @param warnings about the rules
   */
  default void applied(
      long revision, RuleSet rules, List<String> changes, List<Problem> warnings) {}

  /** A rule set has errors; the one before stays in force. */
  default void refused(long revision, List<Problem> problems) {}

  /**
   * Something other than a rule went wrong; it is tried again later.
   *
   * @param what was to be done
   */
  default void failed(String what, Throwable error) {}
}
