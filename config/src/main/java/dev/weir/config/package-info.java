/** Rules and customers' limits in a database: versions, an audit log, and what follows them. */
@org.jspecify.annotations.NullMarked
package dev.weir.config;
