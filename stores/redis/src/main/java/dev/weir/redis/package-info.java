/**
 * Decisions inside Redis or Valkey, shared by many processes.
 *
 * <ul>
 *   <li>{@link dev.weir.redis.RedisStore}: the store; begin here
 *   <li>{@link dev.weir.redis.Script}: the function that decides in Redis, and its text in Lua
 *   <li>{@link dev.weir.redis.Message}: the arguments of a call
 *   <li>{@link dev.weir.redis.SingleLink}: the connection to one server
 *   <li>{@link dev.weir.redis.RedisClusterLink}: the connections to a Redis Cluster
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.redis;
