package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Set;
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
  void paperVector_isMet() {
    ByteBuffer key = ByteBuffer.wrap(upTo(16)).order(ByteOrder.LITTLE_ENDIAN);
    SipHash hash = new SipHash(key.getLong(), key.getLong(), 2, 4);

    assertThat(hash.hash(upTo(15))).isEqualTo(0xa129ca6149be45e5L);
  }

  @Test
  void text_isHashedAsItsBytesWithThePrefixBefore() {
    SipHash hash = new SipHash(11, 22, 1, 3);
    String text = "über\ud83d\ude00 kurz";
    for (int length = 0; length <= text.length(); length++) {
      String part = text.substring(0, length);
      ByteBuffer bytes = ByteBuffer.allocate(8 + 2 * length).order(ByteOrder.LITTLE_ENDIAN);
      bytes.putLong(77);
      part.chars().forEach(c -> bytes.putChar((char) c));
      assertThat(hash.hash(77, part)).isEqualTo(hash.hash(bytes.array()));
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
