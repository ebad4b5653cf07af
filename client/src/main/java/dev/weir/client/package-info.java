/** A client of the service that decides most requests without a call. */
@NullMarked
package dev.weir.client;

import org.jspecify.annotations.NullMarked;
