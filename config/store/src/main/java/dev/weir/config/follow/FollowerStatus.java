package dev.weir.config.follow;

import java.util.List;

/**
 * How far a server has followed its store.
 *
 * @param appliedRevision of the rules in force; 0 before any were read
 * @param headRevision of the store, as it was last heard
 * @param staleNanos since it was last heard; what is in force may be older by so much
 * @param problems why the head's revision is not in force; empty if it is
 */
public record FollowerStatus(
    long appliedRevision, long headRevision, long staleNanos, List<String> problems) {
  public FollowerStatus {
    problems = List.copyOf(problems);
  }
}
