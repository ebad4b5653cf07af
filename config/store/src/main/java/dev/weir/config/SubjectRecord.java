package dev.weir.config;

import dev.weir.config.internal.bytes.Check;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A subject's own settings: a plan, limits, or both.
 *
 * @param plan the name of a plan of the domain's rules, up to 256 bytes in UTF-8; empty for none
 * @param limits at most 64, each for another rule
 * @param note for people, up to 500 bytes in UTF-8; may be empty
 * @param version the number of the change that wrote it, at least 1, or 0 if it is not written yet
 */
public record SubjectRecord(
    Subject subject, String plan, List<OwnLimit> limits, String note, long version) {
  /** The most limits of a record; nobody could oversee more rules for one key. */
  static final int MAX_LIMITS = 64;

  static final int MAX_PLAN_BYTES = 256;
  static final int MAX_NOTE_BYTES = 500;

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if there are too many values, or one is too long
   */
  public SubjectRecord {
    Check.line("plan", plan, 0, MAX_PLAN_BYTES);
    Check.text("note", note, 0, MAX_NOTE_BYTES);
    Check.range("version", version, 0, Long.MAX_VALUE);
    limits = List.copyOf(limits);
    Check.range("limits", limits.size(), 0, MAX_LIMITS);
    Set<String> rules = new HashSet<>();
    for (OwnLimit limit : limits) {
      if (!rules.add(limit.rule())) {
        throw Check.wrong("limits", limit.rule() + " twice", "each rule once");
      }
    }
  }

  /** Returns a record to be written that has a plan only. */
  public static SubjectRecord ofPlan(Subject subject, String plan) {
    return new SubjectRecord(subject, plan, List.of(), "", 0);
  }

  /** Returns a record to be written that has limits only. */
  public static SubjectRecord ofLimits(Subject subject, OwnLimit... limits) {
    return new SubjectRecord(subject, "", List.of(limits), "", 0);
  }

  /** Returns the same record with another version. */
  public SubjectRecord at(long newVersion) {
    return new SubjectRecord(subject, plan, limits, note, newVersion);
  }
}
