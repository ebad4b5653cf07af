/** The seats that a client holds, and their renewal in the background. */
@NullMarked
package dev.weir.client.internal.seat;

import org.jspecify.annotations.NullMarked;
