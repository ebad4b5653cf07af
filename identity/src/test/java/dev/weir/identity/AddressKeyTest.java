package dev.weir.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddressKeyTest {
  @ParameterizedTest
  @CsvSource({
    "192.0.2.3, 192.0.2.3",
    "192.0.2.3:443, 192.0.2.3",
    "::ffff:192.0.2.3, 192.0.2.3",
    "[::ffff:192.0.2.3]:443, 192.0.2.3",
    "2001:DB8:0:0:0:0:0:1, 2001:db8::1",
    "[2001:db8::1]:443, 2001:db8::1",
    "fe80::1%eth0, fe80::1",
    "0:0:0:0:0:0:0:1, ::1"
  })
  void wholeAddress_hasOneForm(String written, String expected) {
    assertThat(AddressKey.WHOLE.of(written)).isEqualTo(expected);
    assertThat(AddressKey.WHOLE.of(expected)).isEqualTo(expected);
  }

  @Test
  void prefix_cutsTheAddress() {
    assertThat(AddressKey.USUAL.of("2001:db8:1:2::3")).isEqualTo("2001:db8:1:2::/64");
    assertThat(AddressKey.ofPrefixes("48").of("2001:db8:1:2::3")).isEqualTo("2001:db8:1::/48");
    assertThat(AddressKey.ofPrefixes("48").of("192.0.2.3")).isEqualTo("192.0.2.3");
    assertThat(AddressKey.ofPrefixes("24/48").of("192.0.2.3")).isEqualTo("192.0.2.0/24");
    assertThatThrownBy(() -> AddressKey.ofPrefixes("24"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("{ip/48} with an IPv6 prefix of 33..128");
  }

  @Test
  void textThatIsNoAddress_hasNoKey() {
    for (String text : new String[] {"", "-", "unknown", "Nov", "0.0.0.0", "::", "192.0.2.256"}) {
      assertThat(AddressKey.USUAL.of(text)).as(text).isNull();
    }
  }

  @Test
  void key_isThatOfARequestFromTheAddress() {
    long seed = new SplittableRandom().nextLong();
    RandomAddress random = new RandomAddress(new Random(seed));
    DescriptorTemplate usual = DescriptorTemplate.parse("k={ip}");
    DescriptorTemplate shorter = DescriptorTemplate.parse("k={ip/24/56}");
    for (int i = 0; i < 2_000; i++) {
      String address = i % 4 == 0 ? random.v4() : random.written(random.groups());
      RequestIdentity request =
          new RequestIdentity(
              TestRequest.from(address), ClientAddress.ofPeer(), SecretHash.plain());
      assertThat(AddressKey.USUAL.of(address))
          .as("seed %s, %s", seed, address)
          .isEqualTo(usual.fill(request, (key, value) -> value).get(0));
      assertThat(AddressKey.ofPrefixes("24/56").of(address))
          .as("seed %s, %s", seed, address)
          .isEqualTo(shorter.fill(request, (key, value) -> value).get(0));
    }
  }
}
