package dev.weir.config.follow;

import java.util.List;

/**
 * The progress of a server that follows its store.
 *
 * @param appliedRevision of the rules in force; 0 before any were read
 * @param headRevision of the store, in its last answer
 * @param staleNanos the time since that answer; the rules in force may be outdated by as much
 * @param problems the reasons why the head's revision is not in force; empty if it is
 */
public record FollowerStatus(
    long appliedRevision, long headRevision, long staleNanos, List<String> problems) {
  public FollowerStatus {
    problems = List.copyOf(problems);
  }
}
