/** Decisions inside Redis or Valkey, shared by many processes. */
@org.jspecify.annotations.NullMarked
package dev.weir.redis;
