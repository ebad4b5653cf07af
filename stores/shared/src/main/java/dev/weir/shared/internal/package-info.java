/**
 * Operations, local permits, and decisions without the store.
 *
 * <ul>
 *   <li>{@link dev.weir.shared.internal.Operation}: a part of a call to a shard; begin here
 *   <li>{@link dev.weir.shared.internal.Allotments}: permits charged in advance, by key
 *   <li>{@link dev.weir.shared.internal.Refusals}: refusals remembered until they end
 *   <li>{@link dev.weir.shared.internal.FailureDecisions}: answers by a rule's {@code on_failure}
 *   <li>{@link dev.weir.shared.internal.Health}: the state of the connection
 * </ul>
 *
 * <p>More than 20 types: each kind of operation is one.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.shared.internal;
