package dev.weir.bench.peers;

import dev.weir.Policy;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * One plain script call per decision, on one connection: the solution that most people would write.
 */
public final class ScriptLimiter implements AsyncLimiter {
  /**
   * The generic cell rate algorithm as one would write it for Redis, with the arguments and the
   * answer of {@code CL.THROTTLE}: burst less one, permits, seconds; 0 if allowed.
   */
  public static final String LUA =
      """
      local now = redis.call('TIME')
      local t = now[1] * 1000000 + now[2]
      local burst, count, period = tonumber(ARGV[1]) + 1, tonumber(ARGV[2]), tonumber(ARGV[3])
      local emission = period * 1000000 / count
      local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), t)
      local new = tat + emission
      if new - emission * burst > t then
        return {1, burst, 0, math.ceil((new - emission * burst - t) / 1000000), math.ceil((tat - t) / 1000000)}
      end
      redis.call('SET', KEYS[1], string.format('%.0f', new), 'PX', math.ceil((new - t) / 1000))
      return {0, burst, math.floor((emission * burst - (new - t)) / emission), -1, math.ceil((new - t) / 1000000)}
      """;

  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private final StatefulRedisConnection<String, String> connection;
  private final String digest;
  private final String prefix;
  private final String[] arguments;

  /**
   * Loads the script.
   *
   * @param policy the policy, of which the name, the burst, and the quota over whole seconds are
   *     used
   */
  public ScriptLimiter(StatefulRedisConnection<String, String> connection, Policy policy) {
    this.connection = connection;
    this.digest = connection.sync().scriptLoad(LUA);
    this.prefix = policy.name() + ":";
    this.arguments =
        new String[] {
          Long.toString(policy.burst() - 1),
          Long.toString(policy.quota().permits()),
          Long.toString(policy.quota().windowNanos() / NANOS_PER_SECOND)
        };
  }

  @Override
  public boolean fill(String key) {
    return tryAcquire(key);
  }

  @Override
  public boolean tryAcquire(String key) {
    return admitted(
        connection
            .sync()
            .evalsha(digest, ScriptOutputType.MULTI, new String[] {prefix + key}, arguments));
  }

  @Override
  public CompletionStage<Boolean> tryAcquireAsync(String key) {
    return connection
        .async()
        .<List<Long>>evalsha(digest, ScriptOutputType.MULTI, new String[] {prefix + key}, arguments)
        .thenApply(ScriptLimiter::admitted);
  }

  private static boolean admitted(List<Long> answer) {
    return answer.get(0) == 0;
  }
}
