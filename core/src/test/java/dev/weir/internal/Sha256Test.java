package dev.weir.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class Sha256Test {
  /** The example of FIPS 180-4. */
  @Test
  void exampleOfTheStandard_hasItsHash() {
    assertThat(Sha256.hex("abc"))
        .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assertThat(Sha256.of(new byte[] {'a', 'b', 'c'})).hasSize(32).startsWith(0xba, 0x78);
  }

  @Test
  void digest_isANewOneEachTime() {
    Sha256.digest().update((byte) 1);

    assertThat(Sha256.digest().digest(new byte[] {'a', 'b', 'c'}))
        .isEqualTo(Sha256.of(new byte[] {'a', 'b', 'c'}));
  }
}
