package dev.weir.redis;

import dev.weir.internal.IoCauses;
import io.lettuce.core.protocol.RedisProtocolException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/** The causes of failures, in words for the log. */
final class ErrorWords {
  /** The client's message for a connection that was closed before it was ready. */
  private static final String NO_HANDSHAKE = "RedisHandshakeHandler not registered";

  /** A pattern of messages that were formatted with a missing value. */
  private static final Pattern NOTHING = Pattern.compile("\\bnull\\b");

  private ErrorWords() {}

  /** Returns an error without the exceptions in which futures wrap it. */
  static Throwable of(Throwable error) {
    Throwable cause = error;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** Returns the message of an error's first cause, or its type if it has no message. */
  static String words(Throwable error) {
    Throwable root = error;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String message = root.getMessage();
    if (root instanceof RedisProtocolException || root instanceof NullPointerException) {
      return "what answers there does not speak as Redis does";
    }
    if (message == null || message.isBlank() || NOTHING.matcher(message).find()) {
      return name(root);
    }
    return message.contains(NO_HANDSHAKE)
        ? "the connection was closed while it was being made"
        : IoCauses.plain(message);
  }

  private static String name(Throwable error) {
    if (error instanceof ClosedChannelException) {
      return "the connection was closed";
    }
    if (error instanceof TimeoutException) {
      return "no answer in time";
    }
    String name = error.getClass().getSimpleName();
    return name.isEmpty() ? error.getClass().getName() : name;
  }
}
