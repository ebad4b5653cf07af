/**
 * Commands on the limits of subjects: the group {@code weir limits}.
 *
 * <ul>
 *   <li>{@link dev.weir.cli.limits.LimitsCommand}: the group; begin here
 *   <li>{@link dev.weir.cli.limits.LimitsImport}: an import in pieces
 *   <li>{@link dev.weir.cli.limits.RecordText}: a record for people
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cli.limits;
