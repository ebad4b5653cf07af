package dev.weir.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** The script that decides. Immutable and safe to share. */
final class Script {
  private static final String FILE = "decide.lua";

  static final Script INSTANCE = new Script();

  private final byte[] source;
  private final String digest;

  private Script() {
    try (InputStream in = Objects.requireNonNull(Script.class.getResourceAsStream(FILE))) {
      source = in.readAllBytes();
      digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(source));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }

  /**
   * Calls the script by its digest; brings it along if this Redis does not know it, which has then
   * done nothing yet.
   */
  CompletionStage<byte[]> call(
      RedisScriptingAsyncCommands<byte[], byte[]> redis, byte[][] keys, byte[] message) {
    CompletionStage<byte[]> reply = redis.evalsha(digest, ScriptOutputType.VALUE, keys, message);
    return reply
        .handle(
            (bytes, error) ->
                error != null && cause(error) instanceof RedisNoScriptException
                    ? redis.<byte[]>eval(source, ScriptOutputType.VALUE, keys, message)
                    : error == null
                        ? CompletableFuture.completedStage(bytes)
                        : CompletableFuture.<byte[]>failedStage(failed(error)))
        .thenCompose(stage -> stage)
        .exceptionally(
            error -> {
              throw failed(error);
            });
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
