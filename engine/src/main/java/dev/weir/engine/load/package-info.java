/**
 * The loads on which elastic rules can depend: the processor's, and that of requests in flight.
 * They are {@link dev.weir.LoadSignal}s, which a program gives to its engine.
 */
@NullMarked
package dev.weir.engine.load;

import org.jspecify.annotations.NullMarked;
