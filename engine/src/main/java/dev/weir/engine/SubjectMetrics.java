package dev.weir.engine;

/**
 * The counts of subjects whose limits are kept elsewhere; a snapshot.
 *
 * @param waiting subjects that requests wait for now
 * @param findsFailed how often the limits at hand could not even be read, because of an exception
 * @param loads how often limits were loaded, because they were not at hand
 * @param late how many of these were not known in time, or could not be known
 * @param uncertain limits of requests that were answered {@link dev.weir.Reason#UNCERTAIN}, because
 *     the number was not known
 * @param overloaded limits of requests that were answered {@link dev.weir.Reason#OVERLOADED},
 *     because the number was not known and there was no place to wait for it
 * @param plansMissing decisions by a rule's own number because the rules do not have the plan that
 *     the subject's record names
 * @param limitsRefused decisions without a subject's own limit because the rule cannot have such a
 *     number
 */
public record SubjectMetrics(
    long waiting,
    long findsFailed,
    long loads,
    long late,
    long uncertain,
    long overloaded,
    long plansMissing,
    long limitsRefused) {}
