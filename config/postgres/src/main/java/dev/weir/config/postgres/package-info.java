/** The configuration store of several servers, in PostgreSQL. */
@org.jspecify.annotations.NullMarked
package dev.weir.config.postgres;
