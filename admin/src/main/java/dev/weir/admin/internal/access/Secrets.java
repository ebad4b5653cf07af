package dev.weir.admin.internal.access;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;

/** Random texts, and the comparison of their hashes. Safe for use by many threads. */
public final class Secrets {
  /**
   * Enough random bytes that no slow hash is needed: the secret cannot be guessed from its hash.
   */
  private static final int SECRET_BYTES = 32;

  /** Letters and digits that are not mistaken for one another. */
  private static final String ID_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789";

  private static final int ID_LENGTH = 8;

  private static final SecureRandom RANDOM = new SecureRandom();

  private Secrets() {}

  /** Returns 43 letters, digits, hyphens and underscores. */
  public static String secret() {
    byte[] bytes = new byte[SECRET_BYTES];
    RANDOM.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /** Returns 8 letters and digits. */
  public static String id() {
    StringBuilder id = new StringBuilder();
    for (int i = 0; i < ID_LENGTH; i++) {
      id.append(ID_LETTERS.charAt(RANDOM.nextInt(ID_LETTERS.length())));
    }
    return id.toString();
  }

  /** Returns whether two hashes are equal, in a time that does not depend on where they differ. */
  static boolean same(String hash, String other) {
    return MessageDigest.isEqual(hash.getBytes(US_ASCII), other.getBytes(US_ASCII));
  }
}
