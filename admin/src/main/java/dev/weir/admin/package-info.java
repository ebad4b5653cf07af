/** The interface by which rules and limits are read and changed while servers run. */
@org.jspecify.annotations.NullMarked
package dev.weir.admin;
