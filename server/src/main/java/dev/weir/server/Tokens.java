package dev.weir.server;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;

/**
 * The secrets by which clients show that they may ask. Several are good at once, so that they can
 * be exchanged without a gap. Safe for use by many threads.
 *
 * <p>What is compared are digests, each in the same time whatever they hold, so that nobody learns
 * a token by measuring.
 */
final class Tokens {
  /** The shortest that nobody guesses in time. */
  static final int MIN_LENGTH = 16;

  private static final String SCHEME = "Bearer ";

  private volatile List<byte[]> digests = List.of();
  private volatile boolean required;
  private volatile int generation;

  private Tokens() {}

  /** Returns tokens of which none is asked for. */
  static Tokens notRequired() {
    return new Tokens();
  }

  /** Returns the tokens of a file, one a line; blank lines and those that begin with # are none. */
  static Tokens of(List<String> lines) {
    Tokens tokens = noneYet();
    tokens.replace(lines);
    return tokens;
  }

  /** Returns tokens of which one is asked for, and none is good yet. */
  static Tokens noneYet() {
    Tokens tokens = new Tokens();
    tokens.required = true;
    return tokens;
  }

  /**
   * Takes other tokens instead.
   *
   * @throws IllegalArgumentException if there is none or one is too short; nothing changes then
   */
  synchronized void replace(List<String> lines) {
    List<byte[]> read = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String token = lines.get(i).strip();
      if (!token.isEmpty() && !token.startsWith("#")) {
        if (token.length() < MIN_LENGTH) {
          throw new IllegalArgumentException(
              "line " + (i + 1) + ": a short token (expected: at least 16 characters)");
        }
        byte[] utf8 = token.getBytes(StandardCharsets.UTF_8);
        read.add(digest(utf8, 0, utf8.length));
      }
    }
    if (read.isEmpty()) {
      throw new IllegalArgumentException("no token (expected: one a line)");
    }
    digests = List.copyOf(read);
    generation = generation + 1;
  }

  /** Returns a number that changes when the tokens do. */
  int generation() {
    return generation;
  }

  /** Returns whether clients have to show a token. */
  boolean required() {
    return required;
  }

  /** Returns whether the bytes are a token. */
  boolean accepts(byte[] bytes, int from, int to) {
    return accepts(digest(bytes, from, to));
  }

  /** Returns whether a digest is that of a token. */
  boolean accepts(byte[] asked) {
    boolean good = false;
    for (byte[] digest : digests) {
      good |= MessageDigest.isEqual(digest, asked);
    }
    return good;
  }

  /** Returns whether the value of an Authorization field holds a token. [RFC 6750, 2.1] */
  boolean acceptsBearer(String field) {
    if (!field.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return false;
    }
    byte[] utf8 = field.substring(SCHEME.length()).strip().getBytes(StandardCharsets.UTF_8);
    return accepts(utf8, 0, utf8.length);
  }

  /** Returns what is compared, and may be kept, instead of a token. */
  static byte[] digest(byte[] bytes, int from, int to) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      sha.update(bytes, from, to - from);
      return sha.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every Java platform has it.
    }
  }
}
