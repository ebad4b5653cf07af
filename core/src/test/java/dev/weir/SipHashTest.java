package dev.weir;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SipHashTest {
  private static byte[] upTo(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) i;
    }
    return bytes;
  }

  @Test
  void paperVector_isMetByWhatTheHashIsComparedWith() {
    ByteBuffer key = ByteBuffer.wrap(upTo(16)).order(ByteOrder.LITTLE_ENDIAN);
    long k0 = key.getLong();
    long k1 = key.getLong();

    assertThat(plain(k0, k1, upTo(15), k1, 2, 4)).isEqualTo(0xa129ca6149be45e5L);
  }

  /**
   * Returns the hash by the algorithm as the paper writes it, a byte at a time, on unbounded
   * numbers.
   */
  private static long plain(long k0, long k1, byte[] m) {
    return plain(k0, k1, m, k1, 1, 3);
  }

  private static long plain(long k0, long k1OfV1, byte[] m, long k1, int rounds, int finalRounds) {
    BigInteger two64 = BigInteger.ONE.shiftLeft(64);
    BigInteger[] v = {
      unsigned(k0 ^ 0x736f6d6570736575L),
      unsigned(k1OfV1 ^ 0x646f72616e646f6dL),
      unsigned(k0 ^ 0x6c7967656e657261L),
      unsigned(k1 ^ 0x7465646279746573L)
    };
    byte[] padded = Arrays.copyOf(m, m.length / 8 * 8 + 8);
    padded[padded.length - 1] = (byte) m.length;
    for (int word = 0; word < padded.length; word += 8) {
      BigInteger value = BigInteger.ZERO;
      for (int i = 7; i >= 0; i--) {
        value = value.shiftLeft(8).or(BigInteger.valueOf(padded[word + i] & 0xff));
      }
      v[3] = v[3].xor(value);
      for (int i = 0; i < rounds; i++) {
        round(v, two64);
      }
      v[0] = v[0].xor(value);
    }
    v[2] = v[2].xor(BigInteger.valueOf(0xff));
    for (int i = 0; i < finalRounds; i++) {
      round(v, two64);
    }
    return v[0].xor(v[1]).xor(v[2]).xor(v[3]).longValue();
  }

  private static void round(BigInteger[] v, BigInteger two64) {
    halfRound(v, 0, 1, 13, two64);
    v[0] = rotated(v[0], 32, two64);
    halfRound(v, 2, 3, 16, two64);
    halfRound(v, 0, 3, 21, two64);
    halfRound(v, 2, 1, 17, two64);
    v[2] = rotated(v[2], 32, two64);
  }

  private static void halfRound(BigInteger[] v, int a, int b, int bits, BigInteger two64) {
    v[a] = v[a].add(v[b]).mod(two64);
    v[b] = rotated(v[b], bits, two64).xor(v[a]);
  }

  private static BigInteger rotated(BigInteger value, int bits, BigInteger two64) {
    return value.shiftLeft(bits).or(value.shiftRight(64 - bits)).mod(two64);
  }

  private static BigInteger unsigned(long value) {
    return new BigInteger(Long.toUnsignedString(value));
  }

  @Test
  void everyKindOfKey_isHashedAsItsBytes_asThePaperWritesIt() {
    int runs = 2_000;
    SplittableRandom random = Seed.random("SipHashTest", runs);
    int[] kinds = {0x80, 0x100, 0x800, 0xd800, 0x110000};
    for (int trial = 0; trial < runs; trial++) {
      StringBuilder made = new StringBuilder();
      int length = random.nextInt(40);
      int strange = random.nextInt(3) == 0 ? 0 : random.nextInt(kinds.length);
      while (made.length() < length) {
        int c = random.nextInt(random.nextInt(8) == 0 ? kinds[strange] : 0x80);
        made.appendCodePoint(c >= 0xd800 && c < 0xe000 ? 'x' : c);
      }
      String text = made.toString();
      byte[] bytes = text.getBytes(UTF_8);
      long k0 = random.nextLong();
      long k1 = random.nextLong();
      long right = plain(k0, k1, bytes);
      Fingerprint fingerprint = Fingerprint.seeded(k0, k1);
      assertThat(fingerprint.of(text)).as(text).isEqualTo(right);
      assertThat(fingerprint.of(made)).isEqualTo(right);
      byte[] inside = new byte[bytes.length + 5];
      System.arraycopy(bytes, 0, inside, 3, bytes.length);
      assertThat(fingerprint.of(inside, 3, 3 + bytes.length)).isEqualTo(right);
      for (ByteOrder order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
        ByteBuffer heap = ByteBuffer.wrap(inside, 3, bytes.length).order(order);
        ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip().order(order);
        assertThat(fingerprint.of(heap)).isEqualTo(right);
        assertThat(fingerprint.of(direct)).isEqualTo(right);
        assertThat(heap.position()).isEqualTo(3);
      }
      long number = random.nextLong();
      ByteBuffer parts = ByteBuffer.allocate(8 + bytes.length).order(ByteOrder.LITTLE_ENDIAN);
      parts.putLong(number).put(bytes);
      assertThat(fingerprint.add(number, text))
          .isEqualTo(plain(k0, k1 ^ 0xee, parts.array(), k1, 1, 3));
      assertThat(fingerprint.add(number, made)).isEqualTo(fingerprint.add(number, text));
    }
  }

  @Test
  void numbers_neverCollide_andSpreadOverAllBits() {
    Fingerprint fingerprint = Fingerprint.seeded(3, 4);
    Set<Long> seen = new HashSet<>();
    int[] ones = new int[Long.SIZE];
    int count = 100_000;
    for (long number = 0; number < count; number++) {
      long hash = fingerprint.of(number << 20);
      assertThat(seen.add(hash)).isTrue();
      for (int bit = 0; bit < Long.SIZE; bit++) {
        ones[bit] += (int) (hash >>> bit) & 1;
      }
    }
    for (int each : ones) {
      assertThat(each).isBetween(count * 48 / 100, count * 52 / 100);
    }
    assertThat(Fingerprint.seeded(3, 5).of(7)).isNotEqualTo(fingerprint.of(7));
    assertThat(Fingerprint.seeded(2, 4).of(7)).isNotEqualTo(fingerprint.of(7));
  }

  @Test
  void surrogatesThatAreNoPair_stayDifferent() {
    Fingerprint fingerprint = Fingerprint.seeded(1, 2);
    Set<Long> seen = new HashSet<>();
    for (String text : new String[] {"?", "\ud83d", "\ude00", "\ude00\ud83d", "\ud83d\ude00"}) {
      assertThat(seen.add(fingerprint.of(text))).as(text).isTrue();
    }
  }

  @Test
  void fingerprints_dependOnSeedPartsAndTheirBorders() {
    Fingerprint one = Fingerprint.seeded(1, 2);
    Fingerprint other = Fingerprint.seeded(1, 3);
    Set<Long> seen = new HashSet<>();
    for (Fingerprint fingerprint : new Fingerprint[] {one, other}) {
      assertThat(seen.add(fingerprint.of("abc"))).isTrue();
      assertThat(seen.add(fingerprint.add(fingerprint.add(0, "ab"), "c"))).isTrue();
      assertThat(seen.add(fingerprint.add(fingerprint.add(0, "a"), "bc"))).isTrue();
      assertThat(seen.add(fingerprint.of(""))).isTrue();
    }
    assertThat(Fingerprint.seeded(1, 2).of("abc")).isEqualTo(one.of("abc"));
    assertThat(Fingerprint.random().of("abc")).isNotEqualTo(Fingerprint.random().of("abc"));
  }
}
