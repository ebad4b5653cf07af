package dev.weir.server.internal.deciding;

import org.jspecify.annotations.Nullable;

/**
 * Texts that requests repeat, such as domains and the keys of entries: a text that was read lately
 * is found again without allocating. Bounded, whatever clients send. Confined to one event loop.
 */
public final class RecentTexts {
  /** The number of texts, a power of two; rules have few domains and keys. */
  private static final int SLOTS = 256;

  /** The longest text that is kept; longer ones are rare. */
  private static final int MAX_LENGTH = 64;

  private final @Nullable String[] recent = new String[SLOTS];

  /** Returns the text of the bytes from {@code from} on and before {@code to}, or null. */
  public @Nullable String find(byte[] bytes, int from, int to) {
    String known = to - from > MAX_LENGTH ? null : recent[slot(bytes, from, to)];
    return known != null && known.length() == to - from && is(known, bytes, from) ? known : null;
  }

  /** Keeps the text of those bytes, in place of another. */
  public void keep(byte[] bytes, int from, int to, String text) {
    if (to - from <= MAX_LENGTH) {
      recent[slot(bytes, from, to)] = text;
    }
  }

  private static int slot(byte[] bytes, int from, int to) {
    int hash = 0;
    for (int at = from; at < to; at++) {
      hash = 31 * hash + bytes[at];
    }
    return (hash * 0x9e3779b9) >>> 24;
  }

  /**
   * Returns whether a text equals the bytes, one for each character: true only if all are ASCII.
   */
  private static boolean is(String text, byte[] bytes, int from) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) != bytes[from + i]) { // Bytes that are not ASCII are negative.
        return false;
      }
    }
    return true;
  }
}
