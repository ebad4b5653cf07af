package dev.weir.engine;

/**
 * What an engine has counted of subjects whose limits are kept elsewhere; a snapshot.
 *
 * @param waiting subjects that requests wait for now
 * @param findsFailed how often it could not even be seen what is at hand, for an exception
 * @param loads how often limits were asked for, because they were not at hand
 * @param late of these, how often they were not known in time, or could not be known
 * @param uncertain limits of requests that were answered without knowing the number
 * @param overloaded of these, those for want of a place to wait
 * @param plansMissing decisions by a rule's own number because the rules have no such plan as the
 *     subject's record names
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
