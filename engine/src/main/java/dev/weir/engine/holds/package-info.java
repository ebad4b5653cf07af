/**
 * The values of {@link dev.weir.engine.Holds}: its {@link dev.weir.engine.holds.HoldSettings
 * settings}, the {@link dev.weir.engine.holds.HoldAnswer} to a request, and the {@link
 * dev.weir.engine.holds.Settlement} of a hold.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.engine.holds;
