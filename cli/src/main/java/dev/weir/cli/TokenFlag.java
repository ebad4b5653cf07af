package dev.weir.cli;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads a token from the file that a server reads its tokens from, or one like it. */
final class TokenFlag {
  /** As much as a thousand long tokens have. */
  private static final int MAX_BYTES = 1 << 20;

  private TokenFlag() {}

  /**
   * Returns the first token of a file. As to the server, blank lines and those that begin with #
   * are none.
   *
   * @throws IllegalArgumentException if there is none; does not show what is there instead
   */
  static String first(String flag, Path file) {
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw wrong(flag, file + " is too large", "a file of tokens, one a line");
      }
      for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
        String token = line.strip();
        if (!token.isEmpty() && !token.startsWith("#")) {
          if (!token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw wrong(
                flag,
                "the first token in " + file + " cannot stand in a header",
                "printable ASCII without spaces");
          }
          return token;
        }
      }
    } catch (CharacterCodingException e) {
      throw wrong(flag, file + " is no text", "a file of tokens, one a line");
    } catch (IOException e) {
      throw wrong(flag, file + " cannot be read", "a file of tokens, one a line");
    }
    throw wrong(flag, file + " has no token", "a file of tokens, one a line");
  }

  private static IllegalArgumentException wrong(String flag, String what, String expected) {
    return new IllegalArgumentException(flag + ": " + what + " (expected: " + expected + ")");
  }
}
