package dev.weir.redis;

import dev.weir.shared.Failure;
import dev.weir.shared.ShardException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The code that decides in Redis: a function from Redis 7 on, if Redis's user may call functions;
 * otherwise a script. A function is set up once, a script anew for every call. Safe for use by many
 * threads.
 */
final class Script {
  private static final List<String> FILES =
      List.of(
          "begin.lua",
          "log.lua",
          "counter.lua",
          "fixed.lua",
          "bucket.lua",
          "seats.lua",
          "decide.lua");

  private static final byte[] SCRIPT;
  private static final String SCRIPT_DIGEST;
  private static final String LIBRARY;

  /** The name of the function and of its library: another version has another name. */
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

  private final RedisClusterAsyncCommands<byte[], byte[]> redis;

  /** True if the function is loaded and may be called. */
  private volatile boolean function;

  /** True if Redis's user may not call functions. */
  private volatile boolean forbidden;

  private volatile CompletionStage<?> loading = CompletableFuture.completedStage(null);

  /**
   * Creates the code's caller.
   *
   * @param redis one connection; what is found out about it does not hold for the next
   */
  Script(RedisClusterAsyncCommands<byte[], byte[]> redis) {
    this.redis = redis;
  }

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

  /**
   * Loads the function, if Redis has functions; until then, and if it has none, the script is
   * called.
   */
  void load() {
    loading =
        redis
            .functionLoad(LIBRARY, true)
            .handle(
                (name, error) -> {
                  function = error == null && !forbidden;
                  return null;
                });
  }

  /**
   * Calls the function or the script. If Redis does not have it, or its user may not call it in
   * this way, nothing has been done yet, and it is called in another way.
   *
   * @param mark the name of the store's mark; null for a call without
   * @param known the mark as this process knows it
   * @return the reply; fails with a {@link ShardException}
   */
  CompletionStage<byte[]> call(
      byte[][] keys, byte[] message, byte @Nullable [] mark, byte[] known) {
    CompletionStage<byte[]> reply;
    if (mark == null) {
      reply = call(keys, message);
    } else {
      byte[][] all = Arrays.copyOf(keys, keys.length + 1);
      all[keys.length] = mark;
      // While a slot moves, its keys and its mark may be in two places. One key alone is found.
      reply =
          unless(
              call(all, message, known),
              problem -> problem.startsWith("TRYAGAIN"),
              () -> call(keys, message));
    }
    return reply.exceptionally(
        error -> {
          throw failed(error);
        });
  }

  private CompletionStage<byte[]> call(byte[][] keys, byte[]... arguments) {
    return function
        ? unless(
            fcall(keys, arguments),
            problem -> unknown(problem) || forbidden(problem, "fcall"),
            () -> script(keys, arguments))
        : script(keys, arguments);
  }

  private CompletionStage<byte[]> fcall(byte[][] keys, byte[]... arguments) {
    return redis.fcall(FUNCTION, ScriptOutputType.VALUE, keys, arguments);
  }

  private boolean unknown(String problem) {
    boolean unknown = problem.contains("Function not found");
    if (unknown) {
      function = false;
      load();
    }
    return unknown;
  }

  /** Returns whether Redis's user may not use a command at all, for any key. */
  private boolean forbidden(String problem, String command) {
    boolean denied = problem.startsWith("NOPERM") && problem.contains("'" + command + "'");
    if (denied && command.equals("fcall")) {
      forbidden = true;
      function = false;
    }
    return denied;
  }

  private CompletionStage<byte[]> script(byte[][] keys, byte[]... arguments) {
    CompletionStage<byte[]> reply =
        unless(
            redis.evalsha(SCRIPT_DIGEST, ScriptOutputType.VALUE, keys, arguments),
            problem -> problem.startsWith("NOSCRIPT"),
            () -> redis.eval(SCRIPT, ScriptOutputType.VALUE, keys, arguments));
    // A user who may call functions only has to wait until the function is loaded.
    return unless(
        reply,
        problem -> forbidden(problem, "evalsha") || forbidden(problem, "eval"),
        () -> loading.thenCompose(done -> function ? fcall(keys, arguments) : reply));
  }

  /** Returns the first reply, or another one if Redis returned a certain error instead. */
  private static CompletionStage<byte[]> unless(
      CompletionStage<byte[]> first,
      Predicate<String> problem,
      Supplier<CompletionStage<byte[]>> other) {
    return first
        .handle(
            (bytes, error) -> {
              if (error == null) {
                return CompletableFuture.completedStage(bytes);
              }
              Throwable cause = ErrorWords.of(error);
              boolean known =
                  cause instanceof RedisCommandExecutionException
                      && problem.test(ErrorWords.words(cause));
              return known ? other.get() : CompletableFuture.<byte[]>failedStage(cause);
            })
        .thenCompose(stage -> stage);
  }

  /** Returns the exception for an error of the client. */
  static ShardException failed(Throwable error) {
    Throwable cause = ErrorWords.of(error);
    if (cause instanceof ShardException known) {
      return known;
    }
    String words = ErrorWords.words(cause);
    if (cause instanceof RedisCommandExecutionException) {
      return new ShardException(ErrorReply.failure(words), words);
    }
    Failure failure = cause instanceof RedisException ? Failure.DISCONNECTED : Failure.OTHER;
    return new ShardException(failure, words);
  }
}
