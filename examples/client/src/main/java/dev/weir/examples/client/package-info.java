/** A program that uses a Weir service, most times without a call. */
@NullMarked
package dev.weir.examples.client;

import org.jspecify.annotations.NullMarked;
