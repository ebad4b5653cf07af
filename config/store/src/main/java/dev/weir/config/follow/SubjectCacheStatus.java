package dev.weir.config.follow;

import dev.weir.config.Subject;
import java.util.List;

/**
 * A snapshot of the content and the counts of a {@link SubjectCache}.
 *
 * @param known subjects with a record
 * @param absent subjects known to have no record
 * @param stale of both, those whose record may have changed since: loaded again when needed
 * @param limits different values among their limits
 * @param bytes the memory of the table now, without the different limits
 * @param hits look-ups that found a subject's limits
 * @param misses look-ups that did not
 * @param queries to the store, each for up to 100 subjects
 * @param loads subjects in these queries
 * @param again of the loads, answers that were discarded because the record changed meanwhile
 * @param failures queries that failed
 * @param evictions subjects that were removed for lack of room
 * @param noRoom limits that found no room at all, and were used once
 * @param unreadable records that this version of Weir could not read, or a part of which it cannot
 *     apply; instead of that part, the plan's or the rule's number is in force
 * @param plansMissing loaded records that named a plan which the rules did not have
 * @param staleNanos the time for which the store's changes have not been known
 * @param problems subjects with an unreadable record or a missing plan, and a description; the
 *     latest 100
 */
public record SubjectCacheStatus(
    long known,
    long absent,
    long stale,
    long limits,
    long bytes,
    long hits,
    long misses,
    long queries,
    long loads,
    long again,
    long failures,
    long evictions,
    long noRoom,
    long unreadable,
    long plansMissing,
    long staleNanos,
    List<Problem> problems) {
  public SubjectCacheStatus {
    problems = List.copyOf(problems);
  }

  /** A subject's record that is not in force as it is written. */
  public record Problem(Subject subject, String message) {}
}
