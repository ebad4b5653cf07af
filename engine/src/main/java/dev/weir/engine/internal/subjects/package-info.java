/**
 * Limits of subjects: look-ups of records that override the numbers of a rule.
 *
 * <ul>
 *   <li>{@link dev.weir.engine.internal.subjects.Subjects}: the numbers of a subject for a rule;
 *       begin here
 *   <li>{@link dev.weir.engine.internal.subjects.Lookups}: look-ups that several requests share
 *   <li>{@link dev.weir.engine.internal.subjects.SubjectCounters}: counts for metrics
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.engine.internal.subjects;
