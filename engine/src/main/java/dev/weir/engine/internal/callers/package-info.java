/**
 * Limits that callers describe with every request. Begin with {@link
 * dev.weir.engine.internal.callers.CallerWindows}; {@link dev.weir.engine.CallerBuckets} is the
 * part that others use.
 */
@NullMarked
package dev.weir.engine.internal.callers;

import org.jspecify.annotations.NullMarked;
