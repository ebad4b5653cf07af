package dev.weir;

import java.security.SecureRandom;

/**
 * Turns keys into seeded 64-bit fingerprints, which is all that a table keeps of them.
 *
 * <p>The hash is SipHash-1-3: without the seed nobody can choose two keys that collide. Two keys
 * that collide by chance share one limit, which can only deny. Immutable and safe to share.
 */
public final class Fingerprint {
  private final SipHash hash;

  private Fingerprint(long k0, long k1) {
    hash = new SipHash(k0, k1, 1, 3);
  }

  /** Returns fingerprints under a seed from the system's secure random source. */
  public static Fingerprint random() {
    SecureRandom random = new SecureRandom();
    return new Fingerprint(random.nextLong(), random.nextLong());
  }

  /** Returns fingerprints under a given seed, the same in every process that uses it. */
  public static Fingerprint seeded(long k0, long k1) {
    return new Fingerprint(k0, k1);
  }

  /** Returns the fingerprint of a key that is a number. */
  public long of(long key) {
    return hash.hash(key, "");
  }

  /** Returns the fingerprint of a key of one part. */
  public long of(CharSequence key) {
    return hash.hash(0, key);
  }

  /**
   * Returns the fingerprint of a key of several parts: start with 0 and add one part after the
   * other. {@code ("ab", "c")} and {@code ("a", "bc")} differ.
   */
  public long add(long fingerprint, CharSequence part) {
    return hash.hash(fingerprint, part);
  }
}
