/** The seats of one request, where stores count them. */
@NullMarked
package dev.weir.engine.internal.seats;

import org.jspecify.annotations.NullMarked;
