package dev.weir.server.internal.access;

import dev.weir.internal.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/**
 * The secrets by which clients authenticate. Several are valid at once, so that they can be
 * replaced without a gap. Safe for use by many threads.
 *
 * <p>Digests are compared in constant time, so that a token cannot be found by measuring time.
 */
public final class Tokens {
  /** The shortest length of a token that cannot be guessed. */
  static final int MIN_LENGTH = 16;

  private static final String SCHEME = "Bearer ";

  private volatile List<byte[]> digests = List.of();
  private volatile boolean required;
  private volatile int generation;

  private Tokens() {}

  /** Returns the tokens of a server that requires none. */
  public static Tokens notRequired() {
    return new Tokens();
  }

  /**
   * Returns the tokens of a file, one per line; blank lines and lines that begin with # are
   * skipped.
   */
  static Tokens of(List<String> lines) {
    Tokens tokens = noneYet();
    tokens.replace(lines);
    return tokens;
  }

  /** Returns the tokens of a server that requires one while none is valid yet. */
  public static Tokens noneYet() {
    Tokens tokens = new Tokens();
    tokens.required = true;
    return tokens;
  }

  /**
   * Replaces the tokens.
   *
   * @throws IllegalArgumentException if there is none or one is too short; nothing changes then
   */
  public synchronized void replace(List<String> lines) {
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
      throw new IllegalArgumentException("no token (expected: one per line)");
    }
    digests = List.copyOf(read);
    generation = generation + 1;
  }

  /** Returns a number that changes when the tokens do. */
  public int generation() {
    return generation;
  }

  /** Returns whether clients must send a token. */
  public boolean required() {
    return required;
  }

  /** Returns whether the bytes are a token. */
  public boolean accepts(byte[] bytes, int from, int to) {
    return accepts(digest(bytes, from, to));
  }

  /** Returns whether a digest is that of a token. */
  public boolean accepts(byte[] asked) {
    boolean good = false;
    for (byte[] digest : digests) {
      good |= MessageDigest.isEqual(digest, asked);
    }
    return good;
  }

  /** Returns whether the value of an Authorization field holds a token. [RFC 6750, 2.1] */
  public boolean acceptsBearer(String field) {
    return accepts(bearerDigest(field));
  }

  /**
   * Returns the digest of the token in an Authorization field; an empty one if there is no token.
   */
  public static byte[] bearerDigest(String field) {
    if (!field.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return new byte[0];
    }
    byte[] utf8 = field.substring(SCHEME.length()).strip().getBytes(StandardCharsets.UTF_8);
    return digest(utf8, 0, utf8.length);
  }

  /** Returns the digest of a token, which is compared, and may be kept, instead of the token. */
  public static byte[] digest(byte[] bytes, int from, int to) {
    MessageDigest sha = Sha256.digest();
    sha.update(bytes, from, to - from);
    return sha.digest();
  }
}
