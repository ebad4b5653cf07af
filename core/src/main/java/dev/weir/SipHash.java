package dev.weir;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * SipHash: a keyed hash whose collisions nobody can choose without the key. [Aumasson and
 * Bernstein, SipHash: a fast short-input PRF, 2012]
 */
final class SipHash {
  private static final VarHandle LITTLE_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final long k0;
  private final long k1;
  private final int rounds;
  private final int finalRounds;

  SipHash(long k0, long k1, int rounds, int finalRounds) {
    this.k0 = k0;
    this.k1 = k1;
    this.rounds = rounds;
    this.finalRounds = finalRounds;
  }

  /**
   * Hashes the UTF-8 bytes of a text. A surrogate that is not one of a pair counts as the three
   * bytes that the scheme would give it, so that different texts never have the same bytes.
   *
   * @param domain 0, or another number for hashes that are to have nothing to do with others
   */
  long hash(long domain, CharSequence text) {
    return new State(domain).text(text);
  }

  /** As {@link #hash(long, CharSequence)}, for eight bytes, little-endian, and then a text. */
  long hash(long domain, long first, CharSequence text) {
    State state = new State(domain);
    state.word(first);
    state.length = Long.BYTES;
    return state.text(text);
  }

  /** Hashes a number's eight bytes, little-endian. */
  long hash(long domain, long number) {
    State state = new State(domain);
    state.word(number);
    return state.finish((long) Long.BYTES << 56);
  }

  /** Hashes bytes, as the paper's test vectors do. */
  long hash(long domain, byte[] bytes, int from, int to) {
    State state = new State(domain);
    int at = from;
    for (; at + Long.BYTES <= to; at += Long.BYTES) {
      state.word((long) LITTLE_ENDIAN.get(bytes, at));
    }
    long tail = (long) (to - from) << 56;
    for (int shift = 0; at < to; at++, shift += Byte.SIZE) {
      tail |= (bytes[at] & 0xffL) << shift;
    }
    return state.finish(tail);
  }

  /** Hashes what remains of a buffer, and leaves it there. */
  long hash(long domain, ByteBuffer bytes) {
    State state = new State(domain);
    int at = bytes.position();
    int to = bytes.limit();
    boolean little = bytes.order() == ByteOrder.LITTLE_ENDIAN;
    long tail = (long) (to - at) << 56;
    for (; at + Long.BYTES <= to; at += Long.BYTES) {
      long word = bytes.getLong(at);
      state.word(little ? word : Long.reverseBytes(word));
    }
    for (int shift = 0; at < to; at++, shift += Byte.SIZE) {
      tail |= (bytes.get(at) & 0xffL) << shift;
    }
    return state.finish(tail);
  }

  /** Lives in registers: the compiler takes it apart. */
  private final class State {
    private long v0 = k0 ^ 0x736f6d6570736575L;
    private long v1;
    private long v2 = k0 ^ 0x6c7967656e657261L;
    private long v3 = k1 ^ 0x7465646279746573L;

    /** Bytes that do not fill a word yet, and the number of all bytes, in texts. */
    private long pending;

    private int length;

    State(long domain) {
      v1 = k1 ^ 0x646f72616e646f6dL ^ domain;
    }

    long text(CharSequence text) {
      int end = text.length();
      int at = 0;
      for (; at + 8 <= end; at += 8) {
        int c0 = text.charAt(at);
        int c1 = text.charAt(at + 1);
        int c2 = text.charAt(at + 2);
        int c3 = text.charAt(at + 3);
        int c4 = text.charAt(at + 4);
        int c5 = text.charAt(at + 5);
        int c6 = text.charAt(at + 6);
        int c7 = text.charAt(at + 7);
        if ((c0 | c1 | c2 | c3 | c4 | c5 | c6 | c7) >= 0x80) {
          break;
        }
        int low = c0 | c1 << 8 | c2 << 16 | c3 << 24;
        long high = c4 | c5 << 8 | c6 << 16 | c7 << 24;
        word(high << 32 | low);
        length += 8;
      }
      for (; at < end; at++) {
        int c = text.charAt(at);
        if (c < 0x80) {
          add(c);
        } else if (Character.isHighSurrogate((char) c)
            && at + 1 < end
            && Character.isLowSurrogate(text.charAt(at + 1))) {
          addWide(Character.toCodePoint((char) c, text.charAt(++at)));
        } else {
          addWide(c);
        }
      }
      return finish(pending | (long) length << 56);
    }

    private void addWide(int c) {
      if (c < 0x800) {
        add(0xc0 | c >> 6);
      } else {
        if (c < 0x10000) {
          add(0xe0 | c >> 12);
        } else {
          add(0xf0 | c >> 18);
          add(0x80 | (c >> 12 & 0x3f));
        }
        add(0x80 | (c >> 6 & 0x3f));
      }
      add(0x80 | (c & 0x3f));
    }

    private void add(int b) {
      pending |= (long) b << (8 * (length & 7));
      length++;
      if ((length & 7) == 0) {
        word(pending);
        pending = 0;
      }
    }

    void word(long m) {
      v3 ^= m;
      mix(rounds);
      v0 ^= m;
    }

    long finish(long tail) {
      word(tail);
      v2 ^= 0xff;
      mix(finalRounds);
      return v0 ^ v1 ^ v2 ^ v3;
    }

    private void mix(int times) {
      for (int i = 0; i < times; i++) {
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
}
