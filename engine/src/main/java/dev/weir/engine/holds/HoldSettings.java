package dev.weir.engine.holds;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Objects;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/**
 * The settings of {@link dev.weir.engine.Holds}. Immutable.
 *
 * @param key signs holds (HMAC-SHA256). A hold can be settled at every server with the same key
 * @param life the time in which a hold can be settled, {@link #LEAST_LIFE} to {@link #MOST_LIFE};
 *     what is not settled by then counts as spent. The same for all servers with the same key
 */
public record HoldSettings(SecretKey key, Duration life) {
  public static final Duration LEAST_LIFE = Duration.ofSeconds(1);
  public static final Duration MOST_LIFE = Duration.ofDays(1);
  public static final Duration DEFAULT_LIFE = Duration.ofMinutes(10);

  /** The algorithm of the signature, as the JDK names it. */
  static final String MAC = "HmacSHA256";

  private static final int KEY_BYTES = 32;

  /**
   * @throws IllegalArgumentException if the life is out of its range
   */
  public HoldSettings {
    Objects.requireNonNull(key, "key");
    if (life.compareTo(LEAST_LIFE) < 0 || life.compareTo(MOST_LIFE) > 0) {
      throw new IllegalArgumentException(
          "life: " + life + " (expected: " + LEAST_LIFE + ".." + MOST_LIFE + ")");
    }
  }

  /**
   * Returns settings with a key that is made of a secret text.
   *
   * @param secret of any length; an attacker who knows it can give back permits
   */
  public static HoldSettings of(byte[] secret, Duration life) {
    return new HoldSettings(new SecretKeySpec(secret, MAC), life);
  }

  /**
   * Returns settings with a random key and the default life: holds can be settled at this engine
   * alone.
   */
  public static HoldSettings random() {
    byte[] secret = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(secret);
    return of(secret, DEFAULT_LIFE);
  }
}
