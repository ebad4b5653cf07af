package dev.weir;

import java.nio.ByteBuffer;

/** A 64-bit hash of texts and bytes: that of a text is that of its UTF-8 bytes. */
interface KeyHash {
  /**
   * Hashes a text. A surrogate that is not one of a pair makes it differ from every other text.
   *
   * @param domain 0, or another number for hashes that must be independent of others
   */
  long hash(long domain, CharSequence text);

  /** Hashes a number and then a text. See {@link #hash(long, CharSequence)} for a text alone. */
  long hash(long domain, long first, CharSequence text);

  /** Hashes the bytes from {@code from} on and before {@code to}. */
  long hash(long domain, byte[] bytes, int from, int to);

  /** Hashes the bytes that remain in a buffer, and leaves them there. */
  long hash(long domain, ByteBuffer bytes);
}
