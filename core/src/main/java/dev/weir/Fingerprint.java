package dev.weir;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Objects;

/**
 * A function that turns keys into 64-bit fingerprints. A store keeps no more of a key than its
 * fingerprint.
 *
 * <p>The hash of texts and bytes is SipHash-1-3 under a seed: without the seed, two keys that
 * collide cannot be chosen; or, if processes share keys but no secret, the beginning of SHA-256,
 * for which a key that collides with a given one cannot be found. Two keys that collide by chance
 * share one limit, which can only deny. Immutable and safe to share.
 */
public final class Fingerprint {
  /** The domain that separates keys of one part from keys of several. */
  private static final long WHOLE = 0;

  private static final long PARTS = 0xee;

  /**
   * The multiplier of the mixer: odd, so that multiplying loses nothing, and with bits that look
   * random.
   */
  private static final long MULTIPLIER = 0xd6e8feb86659fd93L;

  /**
   * A holder class, so that a program that does not use it loads only one kind of hash, which is
   * faster.
   */
  private static final class SharedSeed {
    static final Fingerprint INSTANCE =
        new Fingerprint(new Sha256KeyHash(), MULTIPLIER, Long.reverse(MULTIPLIER));
  }

  private final KeyHash hash;
  private final long k0;
  private final long k1;

  private Fingerprint(KeyHash hash, long k0, long k1) {
    this.hash = hash;
    this.k0 = k0;
    this.k1 = k1;
  }

  /** Returns fingerprints under a seed from the system's secure random source. */
  public static Fingerprint random() {
    SecureRandom random = new SecureRandom();
    return seeded(random.nextLong(), random.nextLong());
  }

  /** Returns fingerprints under a given seed, the same in every process that uses it. */
  public static Fingerprint seeded(long k0, long k1) {
    return new Fingerprint(new SipHash(k0, k1), k0, k1);
  }

  /**
   * Returns the fingerprints that are the same in every process, without a secret. They take
   * longer: some hundreds of nanoseconds.
   */
  public static Fingerprint shared() {
    return SharedSeed.INSTANCE;
  }

  /** Returns the two halves of the seed. */
  long[] seed() {
    return new long[] {k0, k1};
  }

  /** Returns the fingerprint of a text: that of its UTF-8 bytes. */
  public long of(CharSequence key) {
    return key instanceof String text
        ? hash.hash(WHOLE, text)
        : hash.hash(WHOLE, Check.notNull("key", key));
  }

  /**
   * Returns the fingerprint of the bytes from {@code from} on and before {@code to}.
   *
   * @throws IndexOutOfBoundsException if they are not all in the array
   */
  public long of(byte[] key, int from, int to) {
    Check.notNull("key", key);
    return hash.hash(WHOLE, key, Objects.checkFromToIndex(from, to, key.length), to);
  }

  /** Returns the fingerprint of the bytes that remain in a buffer, and leaves them there. */
  public long of(ByteBuffer key) {
    return hash.hash(WHOLE, Check.notNull("key", key));
  }

  /**
   * Returns the fingerprint of a number. No two numbers have the same: it is a permutation, chosen
   * by the seed. [Even and Mansour, A construction of a cipher from a single pseudorandom
   * permutation, 1997; the permutation is a multiply and xor-shift mixer]
   */
  public long of(long key) {
    long z = key ^ k0;
    z = (z ^ (z >>> 32)) * MULTIPLIER;
    z = ((z ^ (z >>> 32)) * MULTIPLIER) ^ k1;
    z = (z ^ (z >>> 32)) * MULTIPLIER;
    return z ^ (z >>> 32);
  }

  /**
   * Returns the fingerprint of a key of several parts: start with 0 and add one part after the
   * other. {@code ("ab", "c")} and {@code ("a", "bc")} differ, and both from {@code "abc"}.
   */
  public long add(long fingerprint, CharSequence part) {
    return part instanceof String text
        ? hash.hash(PARTS, fingerprint, text)
        : hash.hash(PARTS, fingerprint, Check.notNull("part", part));
  }
}
