/**
 * Limits shared through Redis, beside other libraries.
 *
 * <ul>
 *   <li>{@link dev.weir.bench.redis.ThroughRedis}: the scenario; begin here
 *   <li>{@link dev.weir.bench.redis.RedisContender}: one library
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.bench.redis;
