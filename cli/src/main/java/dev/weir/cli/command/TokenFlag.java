package dev.weir.cli.command;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A reader of tokens from files in the format of the server's token file. */
public final class TokenFlag {
  /** The most bytes of a file: room for a thousand long tokens. */
  private static final int MAX_BYTES = 1 << 20;

  private TokenFlag() {}

  /**
   * Returns the first token of a file. As in the server, blank lines and lines that begin with #
   * are skipped.
   *
   * @throws IllegalArgumentException if there is none; the message does not show the file's content
   */
  public static String first(String flag, Path file) {
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw wrong(flag, file + " is too large", "a file of tokens, one per line");
      }
      for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
        String token = line.strip();
        if (!token.isEmpty() && !token.startsWith("#")) {
          if (!isSendable(token)) {
            throw wrong(
                flag,
                "the first token in " + file + " cannot be sent in a header",
                "printable ASCII without spaces");
          }
          return token;
        }
      }
    } catch (CharacterCodingException e) {
      throw wrong(flag, file + " is not text", "a file of tokens, one per line");
    } catch (IOException e) {
      throw wrong(flag, file + " cannot be read", "a file of tokens, one per line");
    }
    throw wrong(flag, file + " has no token", "a file of tokens, one per line");
  }

  /**
   * Returns a token that is given as text.
   *
   * @throws IllegalArgumentException if it cannot be sent; the message does not show it
   */
  public static String sendable(String flag, String token) {
    if (token.isEmpty() || !isSendable(token)) {
      throw wrong(flag, "cannot be sent in a header", "printable ASCII without spaces");
    }
    return token;
  }

  private static boolean isSendable(String token) {
    return token.chars().allMatch(c -> c > ' ' && c < 0x7f);
  }

  private static IllegalArgumentException wrong(String flag, String what, String expected) {
    return new IllegalArgumentException(flag + ": " + what + " (expected: " + expected + ")");
  }
}
