package dev.weir.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisFunctionAsyncCommands;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/**
 * What decides, in Redis: a function where there are functions, from Redis 7 on, else a script. A
 * function is set up once, a script anew for every call. Safe for use by many threads.
 */
final class Script {
  private static final List<String> FILES =
      List.of("begin.lua", "log.lua", "counter.lua", "fixed.lua", "bucket.lua", "decide.lua");

  private static final byte[] SCRIPT;
  private static final String SCRIPT_DIGEST;
  private static final String LIBRARY;

  /** The function's name, and its library's: another version is another name. */
  private static final String FUNCTION;

  static {
    StringBuilder text = new StringBuilder();
    for (String file : FILES) {
      text.append(read(file)).append('\n');
    }
    SCRIPT = (text + "return decide(KEYS, ARGV)\n").getBytes(StandardCharsets.UTF_8);
    SCRIPT_DIGEST = sha1(SCRIPT);
    FUNCTION = "weir_" + SCRIPT_DIGEST.substring(0, 16);
    LIBRARY =
        "#!lua name="
            + FUNCTION
            + "\n"
            + text
            + "redis.register_function('"
            + FUNCTION
            + "', decide)\n";
  }

  private volatile boolean function;

  private static String read(String file) {
    try (InputStream in = Objects.requireNonNull(Script.class.getResourceAsStream(file))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String sha1(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }

  /** Makes the function known, if there are any; until then, and if not, the script is called. */
  void load(RedisFunctionAsyncCommands<byte[], byte[]> redis) {
    redis.functionLoad(LIBRARY, true).whenComplete((name, error) -> function = error == null);
  }

  /**
   * Calls it. Where Redis does not know it, nothing has been done yet, and it is brought along.
   *
   * @return the reply; fails with a {@link ShardException}
   */
  CompletionStage<byte[]> call(
      RedisClusterAsyncCommands<byte[], byte[]> redis, byte[][] keys, byte[] message) {
    CompletionStage<byte[]> reply =
        function
            ? unless(
                "Function not found",
                redis.fcall(FUNCTION, ScriptOutputType.VALUE, keys, message),
                () -> {
                  function = false;
                  load(redis);
                  return script(redis, keys, message);
                })
            : script(redis, keys, message);
    return reply.exceptionally(
        error -> {
          throw failed(error);
        });
  }

  private static CompletionStage<byte[]> script(
      RedisScriptingAsyncCommands<byte[], byte[]> redis, byte[][] keys, byte[] message) {
    return unless(
        "NOSCRIPT",
        redis.evalsha(SCRIPT_DIGEST, ScriptOutputType.VALUE, keys, message),
        () -> redis.eval(SCRIPT, ScriptOutputType.VALUE, keys, message));
  }

  /** Returns the first reply, or another if that is a certain error. */
  private static CompletionStage<byte[]> unless(
      String problem,
      CompletionStage<byte[]> first,
      java.util.function.Supplier<CompletionStage<byte[]>> other) {
    return first
        .handle(
            (bytes, error) -> {
              if (error == null) {
                return CompletableFuture.completedStage(bytes);
              }
              Throwable cause = cause(error);
              boolean known =
                  cause instanceof RedisNoScriptException
                      || (cause instanceof RedisCommandExecutionException
                          && String.valueOf(cause.getMessage()).contains(problem));
              return known ? other.get() : CompletableFuture.<byte[]>failedStage(cause);
            })
        .thenCompose(stage -> stage);
  }

  /** Returns what an error of the client's means. */
  static ShardException failed(Throwable error) {
    Throwable cause = cause(error);
    String message = String.valueOf(cause.getMessage());
    if (cause instanceof ShardException known) {
      return known;
    }
    if (cause instanceof RedisCommandExecutionException) {
      return new ShardException(Failure.of(message), message);
    }
    Failure failure = cause instanceof RedisException ? Failure.DISCONNECTED : Failure.OTHER;
    return new ShardException(failure, message);
  }

  static Throwable cause(Throwable error) {
    Throwable cause = error;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }
}
