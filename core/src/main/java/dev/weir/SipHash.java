package dev.weir;

/**
 * SipHash: a keyed hash whose collisions nobody can choose without the key. [Aumasson and
 * Bernstein, SipHash: a fast short-input PRF, 2012]
 */
final class SipHash {
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

  /** Hashes {@code prefix} and then the text's UTF-16 code units, all little-endian. */
  long hash(long prefix, CharSequence text) {
    State state = new State();
    state.word(prefix, rounds);
    int length = text.length();
    int whole = length & ~3;
    for (int i = 0; i < whole; i += 4) {
      state.word(
          text.charAt(i)
              | (long) text.charAt(i + 1) << 16
              | (long) text.charAt(i + 2) << 32
              | (long) text.charAt(i + 3) << 48,
          rounds);
    }
    long tail = (long) (8 + 2 * length) << 56;
    for (int i = length - 1; i >= whole; i--) {
      tail |= (long) text.charAt(i) << (16 * (i - whole));
    }
    return state.finish(tail);
  }

  /** Hashes bytes, as the paper's test vectors do. */
  long hash(byte[] bytes) {
    State state = new State();
    int whole = bytes.length & ~7;
    for (int i = 0; i < whole; i += 8) {
      state.word(word(bytes, i, 8), rounds);
    }
    return state.finish((long) bytes.length << 56 | word(bytes, whole, bytes.length - whole));
  }

  private static long word(byte[] bytes, int from, int count) {
    long word = 0;
    for (int i = count - 1; i >= 0; i--) {
      word = word << 8 | (bytes[from + i] & 0xff);
    }
    return word;
  }

  /** Lives in registers: the compiler takes it apart. */
  private final class State {
    private long v0 = k0 ^ 0x736f6d6570736575L;
    private long v1 = k1 ^ 0x646f72616e646f6dL;
    private long v2 = k0 ^ 0x6c7967656e657261L;
    private long v3 = k1 ^ 0x7465646279746573L;

    void word(long m, int times) {
      v3 ^= m;
      mix(times);
      v0 ^= m;
    }

    long finish(long tail) {
      word(tail, rounds);
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
