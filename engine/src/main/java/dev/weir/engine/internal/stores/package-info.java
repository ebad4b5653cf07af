/**
 * Requests that touch two stores: all or nothing over both.
 *
 * <ul>
 *   <li>{@link dev.weir.engine.internal.stores.SplitRequest}: one request over two stores; begin
 *       here
 *   <li>{@link dev.weir.engine.internal.stores.SplitBatch}: a batch that is divided by store
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.engine.internal.stores;
