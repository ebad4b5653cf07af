package dev.weir.config;

import dev.weir.config.internal.bytes.Check;

/**
 * The author, the way and the reason of a change. All texts are without control characters.
 *
 * @param author 1 to 200 bytes in UTF-8: a token's id, a user's name
 * @param role of the author at that time, up to 50 bytes; may be empty
 * @param via the way, up to 50 bytes: {@code api}, {@code dashboard}, {@code cli}; may be empty
 * @param source the client's address, up to 100 bytes; may be empty
 * @param request the request's id, up to 100 bytes; may be empty
 * @param reason in words, 3 to 500 bytes
 */
public record Cause(
    String author, String role, String via, String source, String request, String reason) {
  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a text is too short or too long
   */
  public Cause {
    Check.line("author", author, 1, 200);
    Check.line("role", role, 0, 50);
    Check.line("via", via, 0, 50);
    Check.line("source", source, 0, 100);
    Check.line("request", request, 0, 100);
    Check.line("reason", reason, 3, 500);
  }

  public static Cause of(String author, String reason) {
    return new Cause(author, "", "", "", "", reason);
  }
}
