/**
 * Followers of a configuration store: rules and records reach a server as they change.
 *
 * <ul>
 *   <li>{@link dev.weir.config.follow.ConfigClient}: a follower for applications; begin here
 *   <li>{@link dev.weir.config.follow.RuleFollower}: follows rules and reports the revision in
 *       force
 *   <li>{@link dev.weir.config.follow.SubjectCache}: records of subjects, looked up and kept
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.config.follow;
