/**
 * The state of a group: the same at each member that has applied the same entries of the log.
 *
 * <ul>
 *   <li>{@link dev.weir.cluster.internal.state.Replica}: the state machine; begin here, with {@code
 *       apply}
 *   <li>{@link dev.weir.cluster.internal.state.Entry}: the format of an entry; {@link
 *       dev.weir.cluster.internal.state.EntryWriter} and {@link
 *       dev.weir.cluster.internal.state.OperationReader} write and read its operations
 *   <li>{@link dev.weir.cluster.internal.state.ClusterReply}: the format of the results; {@link
 *       dev.weir.cluster.internal.state.ReplyWriter} writes it
 *   <li>{@link dev.weir.cluster.internal.state.GroupSlots}: the slots of keys that a group owns
 *   <li>{@link dev.weir.cluster.internal.state.ClusterTime}: the clock by which entries are stamped
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cluster.internal.state;
