package dev.weir.config.follow;

import dev.weir.config.Subject;
import java.util.List;

/**
 * What a {@link SubjectCache} knows, and what it has counted; a snapshot.
 *
 * @param known subjects with a record
 * @param absent subjects of whom it is known that they have none
 * @param stale of both, those whose record may have changed since: asked for again when needed
 * @param limits different limits among the known ones
 * @param bytes that the table takes now, without the different limits
 * @param hits how often a subject's limits were at hand
 * @param misses how often they were not
 * @param queries that were made of the store, each of up to 100 subjects
 * @param loads subjects in these
 * @param again of these, answers that were thrown away because the record changed meanwhile
 * @param failures queries that failed
 * @param evictions subjects that left for want of room
 * @param noRoom limits that found no room at all, and were used once
 * @param unreadable records that this version of Weir could not read, or a part of which it cannot
 *     apply; what cannot be applied leaves the plan's or the rule's number in force
 * @param plansMissing loaded records that named a plan which the rules did not have
 * @param staleNanos since when the store's changes are not known
 * @param problems subjects with an unreadable record or a missing plan, and what is wrong; the
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
