package dev.weir.identity;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * A hash of credentials, so that none appears in a key, log or metric: HMAC-SHA-256 with a pepper,
 * or else SHA-256. Either is cut to 16 bytes and written in base64url, 22 characters.
 *
 * <p>Without a pepper, likely credentials can be tried out against keys by anyone who can read
 * these. Processes that share limits need the same pepper. Safe for use by several threads.
 */
public final class SecretHash {
  private static final int BYTES = 16;
  private static final String HMAC = "HmacSHA256";

  private final @Nullable SecretKeySpec pepper;

  private SecretHash(@Nullable SecretKeySpec pepper) {
    this.pepper = pepper;
  }

  /** Returns the hash SHA-256. */
  public static SecretHash plain() {
    return new SecretHash(null);
  }

  /**
   * Returns the hash HMAC-SHA-256 with a pepper.
   *
   * @throws IllegalArgumentException if it has fewer than 16 bytes
   */
  public static SecretHash withPepper(byte[] pepper) {
    if (pepper.length < BYTES) {
      throw new IllegalArgumentException(
          "pepper: " + pepper.length + " bytes (expected: at least " + BYTES + ", of random)");
    }
    return new SecretHash(new SecretKeySpec(pepper, HMAC));
  }

  /** Returns the hash like {@link #withPepper(byte[])}, with the text's UTF-8 as the pepper. */
  public static SecretHash withPepper(String pepper) {
    return withPepper(pepper.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the hash of the text's UTF-8, 22 characters. */
  public String of(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    try {
      byte[] hash;
      if (pepper == null) {
        hash = MessageDigest.getInstance("SHA-256").digest(bytes);
      } else {
        Mac mac = Mac.getInstance(HMAC);
        mac.init(pepper);
        hash = mac.doFinal(bytes);
      }
      return Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(hash, BYTES));
    } catch (GeneralSecurityException e) {
      // Every Java platform has both algorithms.
      throw new IllegalStateException(e);
    }
  }
}
