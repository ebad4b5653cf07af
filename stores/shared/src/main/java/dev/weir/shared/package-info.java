/**
 * What every store needs that several processes share, whatever carries its calls: how operations
 * of many threads become few calls ({@link dev.weir.shared.Caller}), what a process may decide by
 * itself under each consistency, and what is answered while the store cannot be asked.
 *
 * <p>A store of this kind extends {@link dev.weir.shared.SharedStore} and brings its transport
 * along: a {@link dev.weir.shared.Link}, with a {@link dev.weir.shared.Shard} for each server that
 * decides.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.shared;
