package dev.weir;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * SipHash-1-3: a keyed hash whose collisions cannot be chosen without the key. [Aumasson and
 * Bernstein, SipHash: a fast short-input PRF, 2012]
 */
final class SipHash implements KeyHash {
  private static final VarHandle LITTLE_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** The bits that are 0 in four characters if all of them are ASCII. */
  private static final long NOT_ASCII = 0xff80_ff80_ff80_ff80L;

  private final long k0;
  private final long k1;

  SipHash(long k0, long k1) {
    this.k0 = k0;
    this.k1 = k1;
  }

  /**
   * Hashes the UTF-8 bytes of a text. A surrogate outside a pair counts as the three bytes that the
   * scheme would give it, so that different texts always have different bytes.
   *
   * @param domain 0, or another number for hashes that must be independent of others
   */
  @Override
  public long hash(long domain, CharSequence text) {
    return hash(domain, false, 0, text);
  }

  /**
   * Hashes eight bytes, little-endian, and then a text. See {@link #hash(long, CharSequence)} for a
   * text alone.
   */
  @Override
  public long hash(long domain, long first, CharSequence text) {
    return hash(domain, true, first, text);
  }

  /**
   * Hashes a text while all of it is ASCII; otherwise starts again with the general method. No
   * state is passed between the two, so that it can stay in registers.
   */
  private long hash(long domain, boolean prefixed, long first, CharSequence text) {
    State state = new State(domain);
    int end = text.length();
    long tail = (long) end << 56;
    if (prefixed) {
      state.word(first);
      tail += (long) Long.BYTES << 56;
    }
    int offset = 0;
    for (; offset + 8 <= end; offset += 8) {
      long even = everyOther(text, offset);
      long odd = everyOther(text, offset + 1);
      if (((even | odd) & NOT_ASCII) != 0) {
        return encoded(domain, prefixed, first, text);
      }
      state.word(even | odd << Byte.SIZE);
    }
    if (offset == end) {
      return state.finish(tail);
    }
    if (end >= 8) { // The last eight bytes, of which some have been hashed already.
      long even = everyOther(text, end - 8);
      long odd = everyOther(text, end - 7);
      if (((even | odd) & NOT_ASCII) != 0) {
        return encoded(domain, prefixed, first, text);
      }
      long last = even | odd << Byte.SIZE;
      return state.finish(tail | last >>> (Byte.SIZE * (offset + 8 - end)));
    }
    for (int shift = 0; offset < end; offset++, shift += Byte.SIZE) {
      char c = text.charAt(offset);
      if (c >= 0x80) {
        return encoded(domain, prefixed, first, text);
      }
      tail |= (long) c << shift;
    }
    return state.finish(tail);
  }

  /** Returns every other one of seven characters, as the quarters of a word. */
  private static long everyOther(CharSequence text, int offset) {
    long c0 = text.charAt(offset);
    long c2 = text.charAt(offset + 2);
    long c4 = text.charAt(offset + 4);
    long c6 = text.charAt(offset + 6);
    return c0 | c2 << 16 | c4 << 32 | c6 << 48;
  }

  /** Hashes a text of any characters. */
  private long encoded(long domain, boolean prefixed, long first, CharSequence text) {
    State state = new State(domain);
    int length = 0;
    if (prefixed) {
      state.word(first);
      length = Long.BYTES;
    }
    int end = text.length();
    long pending = 0;
    for (int offset = 0; offset < end; offset++) {
      int c = text.charAt(offset);
      int bytes = 1;
      long utf8 = c;
      if (c >= 0x80 && c < 0x800) {
        bytes = 2;
        utf8 = 0x80c0 | c >> 6 | (c & 0x3f) << 8;
      } else if (c >= 0x800) {
        bytes = 3;
        utf8 = 0x8080e0 | c >> 12 | (c & 0xfc0) << 2 | (c & 0x3f) << 16;
        boolean pair =
            offset + 1 < end && Character.isSurrogatePair((char) c, text.charAt(offset + 1));
        if (pair) {
          c = Character.toCodePoint((char) c, text.charAt(++offset));
          bytes = 4;
          utf8 =
              0x808080f0L
                  | c >> 18
                  | (c & 0x3f000) >> 4
                  | (c & 0xfc0) << 10
                  | (long) (c & 0x3f) << 24;
        }
      }
      int filled = length & 7;
      pending |= utf8 << (filled * Byte.SIZE);
      length += bytes;
      if (filled + bytes >= Long.BYTES) {
        state.word(pending);
        int used = Long.BYTES - filled;
        pending = used == bytes ? 0 : utf8 >>> (used * Byte.SIZE);
      }
    }
    return state.finish(pending | (long) length << 56);
  }

  /** Hashes bytes as the paper's test vectors do. */
  @Override
  public long hash(long domain, byte[] bytes, int from, int to) {
    State state = new State(domain);
    int offset = from;
    for (; offset + Long.BYTES <= to; offset += Long.BYTES) {
      state.word((long) LITTLE_ENDIAN.get(bytes, offset));
    }
    long tail = (long) (to - from) << 56;
    for (int shift = 0; offset < to; offset++, shift += Byte.SIZE) {
      tail |= (bytes[offset] & 0xffL) << shift;
    }
    return state.finish(tail);
  }

  /** Hashes the bytes that remain in a buffer, and leaves them there. */
  @Override
  public long hash(long domain, ByteBuffer bytes) {
    State state = new State(domain);
    int offset = bytes.position();
    int to = bytes.limit();
    boolean little = bytes.order() == ByteOrder.LITTLE_ENDIAN;
    long tail = (long) (to - offset) << 56;
    for (; offset + Long.BYTES <= to; offset += Long.BYTES) {
      long word = bytes.getLong(offset);
      state.word(little ? word : Long.reverseBytes(word));
    }
    for (int shift = 0; offset < to; offset++, shift += Byte.SIZE) {
      tail |= (bytes.get(offset) & 0xffL) << shift;
    }
    return state.finish(tail);
  }

  /** The state of a hash. It stays in registers: the compiler replaces the object by its fields. */
  private final class State {
    private long v0 = k0 ^ 0x736f6d6570736575L;
    private long v1;
    private long v2 = k0 ^ 0x6c7967656e657261L;
    private long v3 = k1 ^ 0x7465646279746573L;

    State(long domain) {
      v1 = k1 ^ 0x646f72616e646f6dL ^ domain;
    }

    void word(long m) {
      v3 ^= m;
      mix();
      v0 ^= m;
    }

    long finish(long tail) {
      word(tail);
      v2 ^= 0xff;
      mix();
      mix();
      mix();
      return v0 ^ v1 ^ v2 ^ v3;
    }

    private void mix() {
      v0 += v1;
      v1 = Long.rotateLeft(v1, 13) ^ v0;
      v0 = Long.rotateLeft(v0, 32);
      v2 += v3;
      v3 = Long.rotateLeft(v3, 16) ^ v2;
      v0 += v3;
      v3 = Long.rotateLeft(v3, 21) ^ v0;
      v2 += v1;
      v1 = Long.rotateLeft(v1, 17) ^ v2;
      v2 = Long.rotateLeft(v2, 32);
    }
  }
}
