package dev.weir.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings, and cases that the table does not have. */
class ClientAddressTest {
  private static ClientAddress forwarded() {
    return ClientAddress.builder().trusted("10.0.0.0/8").header("forwarded").build();
  }

  private static String key(ClientAddress address, @Nullable String peer, String... lines) {
    TestRequest request = TestRequest.from(peer);
    for (String name : new String[] {"X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Mine"}) {
      request.header(name, lines);
    }
    return address.of(request).key();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "for=203.0.113.7:80 | 203.0.113.7",
        "for=[2001:db8::1]:80 | 2001:db8::/64",
        "for=2001:db8::1 | 2001:db8::/64",
        "FOR=203.0.113.7 ; proto=https | 203.0.113.7",
        ";for=203.0.113.7;; | 203.0.113.7",
        "host=example.com:8080;for=203.0.113.7 | 203.0.113.7",
        "for=\"203.0.113.7\";host=\"a b\" | 203.0.113.7",
        "for =203.0.113.7 | via 10.0.0.1",
        "for= 203.0.113.7 | via 10.0.0.1",
        "for=203.0.113.7\" | via 10.0.0.1",
        "for=\"203.0.113.7 | via 10.0.0.1",
        "for=\"\" | via 10.0.0.1",
        "for= | via 10.0.0.1",
        "for | via 10.0.0.1",
        "=203.0.113.7 | via 10.0.0.1",
        "f@r=1;for=203.0.113.7 | via 10.0.0.1",
        "host=\"a;for=6.6.6.6;x=\";for=203.0.113.7 | via 10.0.0.1",
        "for=203.0.113.7;secret=a b | via 10.0.0.1",
        "for=\"203.0.113.7:_\" | via 10.0.0.1",
        "for=\"203.0.113.7:_a b\" | via 10.0.0.1",
        "203.0.113.7 | via 10.0.0.1",
      })
  void forwardedElement_isReadStrictly(String header, String key) {
    assertThat(key(forwarded(), "10.0.0.1", header)).isEqualTo(key);
  }

  @ParameterizedTest
  @CsvSource({
    "203.0.113.7:0, 203.0.113.7",
    "203.0.113.7:65535, 203.0.113.7",
    "203.0.113.7:65536, via 10.0.0.1",
    "203.0.113.7:000080, via 10.0.0.1",
    "203.0.113.7:, via 10.0.0.1",
    "203.0.113.7:_port, via 10.0.0.1",
    "203.0.113.7%eth0, via 10.0.0.1",
    "[203.0.113.7], via 10.0.0.1",
    "[2001:db8::1], 2001:db8::/64",
    "[2001:db8::1%eth0]:80, 2001:db8::/64",
    "[2001:db8::1]80, via 10.0.0.1",
    "[2001:db8::1]:, via 10.0.0.1",
    "[2001:db8::1, via 10.0.0.1",
    "2001:db8::1%, via 10.0.0.1",
    "2001:db8::1]:80, via 10.0.0.1",
    "[], via 10.0.0.1",
    "[]:80, via 10.0.0.1",
    "::, via 10.0.0.1",
    "::ffff:0.0.0.0, via 10.0.0.1",
    "localhost, via 10.0.0.1",
  })
  void element_isAnAddressOrNone(String header, String key) {
    ClientAddress address =
        ClientAddress.builder().trusted("10.0.0.1").header("x-forwarded-for").build();
    assertThat(key(address, "10.0.0.1", header)).isEqualTo(key);
  }

  @Test
  void zone_hasAtMost64Characters() {
    ClientAddress address = ClientAddress.ofPeer();
    assertThat(key(address, "fe80::1%" + "a".repeat(64))).isEqualTo("fe80::/64");
    assertThat(key(address, "fe80::1%" + "a".repeat(65))).isEqualTo("unknown");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "localhost", "@", "/run/app.sock", "0.0.0.0"})
  void peerWithoutAnAddress_isUnknownAndTrustedOnlyAsASocket(String peer) {
    ClientAddress.Builder builder =
        ClientAddress.builder().trusted("10.0.0.0/8").header("X-Forwarded-For");
    assertThat(key(builder.build(), peer, "203.0.113.7")).isEqualTo("unknown");
    builder.trustUnixSocket(true);
    assertThat(key(builder.build(), peer, "203.0.113.7")).isEqualTo("203.0.113.7");
    assertThat(key(builder.build(), peer, "203.0.113.7, 10.0.0.2")).isEqualTo("203.0.113.7");
    assertThat(key(builder.build(), peer, "nobody")).isEqualTo("via unknown");
    assertThat(key(builder.build(), peer)).isEqualTo("unknown");
  }

  @Test
  void hopsWithRanges_areCountedOnlyBehindOneOfThem() {
    ClientAddress.Builder builder = ClientAddress.builder().header("X-Forwarded-For").hops(1);
    assertThat(key(builder.build(), "198.51.100.9", "203.0.113.7")).isEqualTo("203.0.113.7");
    assertThat(key(builder.build(), "198.51.100.9", "203.0.113.7, x"))
        .isEqualTo("via 198.51.100.9");
    builder.trusted("10.0.0.0/8");
    assertThat(key(builder.build(), "198.51.100.9", "203.0.113.7")).isEqualTo("198.51.100.9");
    assertThat(key(builder.build(), "10.0.0.1", "203.0.113.7")).isEqualTo("203.0.113.7");
  }

  @Test
  void headerOfAnotherName_hasASingleAddressOrTheFormThatIsSet() {
    ClientAddress.Builder builder = ClientAddress.builder().trusted("10.0.0.1").header("X-Mine");
    assertThat(key(builder.build(), "10.0.0.1", " 203.0.113.7\t")).isEqualTo("203.0.113.7");
    assertThat(key(builder.build(), "10.0.0.1", "203.0.113.7,")).isEqualTo("via 10.0.0.1");
    assertThat(key(builder.build(), "10.0.0.1", "")).isEqualTo("via 10.0.0.1");
    assertThat(key(builder.build(), "10.0.0.1")).isEqualTo("10.0.0.1");
    builder.header("X-Mine", HeaderForm.LIST);
    assertThat(key(builder.build(), "10.0.0.1", "6.6.6.6, 203.0.113.7,")).isEqualTo("203.0.113.7");
  }

  @Test
  void addressThatCarriesATrustedOne_isNotTrusted() {
    // Only a translator has these addresses, so they are not those of trusted proxies.
    ClientAddress address =
        ClientAddress.builder().trusted("10.0.0.0/8").header("X-Forwarded-For").build();
    assertThat(key(address, "10.0.0.1", "6.6.6.6, 64:ff9b::10.0.0.2")).isEqualTo("10.0.0.2");
    assertThat(key(address, "2002:a00:1::1", "6.6.6.6")).isEqualTo("10.0.0.1");
  }

  @Test
  void key_canHaveOtherPrefixes() {
    ClientAddress address = ClientAddress.ofPeer();
    Client six = address.of(TestRequest.from("2001:db8:1:2:3:4:5:6"));
    assertThat(six.key(48)).isEqualTo("2001:db8:1::/48");
    assertThat(six.key(24, 128)).isEqualTo("2001:db8:1:2:3:4:5:6");
    assertThat(six).hasToString("2001:db8:1:2::/64");
    Client four = address.of(TestRequest.from("203.0.113.7"));
    assertThat(four.key(48)).isEqualTo("203.0.113.7");
    assertThat(four.key(24, 48)).isEqualTo("203.0.113.0/24");
    assertThatThrownBy(() -> four.key(0, 129))
        .hasMessage("ipv4-prefix: 0 (expected: 1..32)\nipv6-prefix: 129 (expected: 1..128)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "10.0.0.1/8       | 10.0.0.0/8",
        "2001:db8::1/32   | 2001:db8::/32",
        "::ffff:10.0.0.1/104 | 10.0.0.0/8",
        "10.0.0.0/33      | 10.0.0.0/N with N from 1 to 32",
        "10.0.0.0/        | 10.0.0.0/N with N from 1 to 32",
        "10.0.0.0/08      | 10.0.0.0/N with N from 1 to 32",
        "10.0.0.0/-1      | 10.0.0.0/N with N from 1 to 32",
        "10.0.0.0/255.0.0.0 | 10.0.0.0/N with N from 1 to 32",
        "2001:db8::/129   | 2001:db8::/N with N from 1 to 128",
        "::ffff:10.0.0.0/8 | ::ffff:10.0.0.0/N with N from 97 to 128",
        "0.0.0.0/0        | the ranges of your own proxies; with all addresses trusted, each client is believed",
        "::/0             | the ranges of your own proxies; with all addresses trusted, each client is believed",
        "::ffff:0:0/96    | the ranges of your own proxies; with all addresses trusted, each client is believed",
        "localhost        | an address or a range such as 10.0.0.0/8 or 2001:db8::/32",
        "fe80::1%eth0     | an address or a range such as 10.0.0.0/8 or 2001:db8::/32",
        "010.0.0.0/8      | an address or a range such as 10.0.0.0/8 or 2001:db8::/32",
      })
  void wrongRange_isRefused(String range, String expected) {
    assertThatThrownBy(() -> ClientAddress.builder().trusted(range).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("trusted: \"" + range + "\" (expected: " + expected + ")");
  }

  @Test
  void mappedRange_isTheIpv4Range() {
    assertThat(Cidr.parse("::ffff:10.0.0.0/104")).hasToString("10.0.0.0/8");
    assertThat(Cidr.parse("::ffff:10.0.0.1")).hasToString("10.0.0.1");
    assertThat(Cidr.parse("10.0.0.1/32")).hasToString("10.0.0.1");
  }

  @Test
  void wrongSettings_areAllSaidAtOnce() {
    ClientAddress.Builder builder =
        ClientAddress.builder()
            .trusted("a", "10.0.0.1/8")
            .header("X Y")
            .hops(65)
            .ipv4Prefix(0)
            .ipv6Prefix(129);
    assertThatThrownBy(builder::build)
        .hasMessage(
            """
            trusted: "a" (expected: an address or a range such as 10.0.0.0/8 or 2001:db8::/32)
            trusted: "10.0.0.1/8" (expected: 10.0.0.0/8)
            header: "X Y" (expected: the name of a header)
            hops: 65 (expected: 0..64)
            ipv4-prefix: 0 (expected: 1..32)
            ipv6-prefix: 129 (expected: 1..128)""");
  }

  @Test
  void headerWithoutTrust_isRefused() {
    assertThatThrownBy(() -> ClientAddress.builder().header("X-Forwarded-For").build())
        .hasMessage(
            "header: \"X-Forwarded-For\" (expected: trusted proxies or a number of hops with it; it"
                + " is read from no one else)");
    assertThatThrownBy(() -> ClientAddress.builder().hops(1).build())
        .hasMessage(
            "hops: 1 (expected: a header with a list, such as X-Forwarded-For, to count them in)");
    assertThatThrownBy(() -> ClientAddress.builder().header("X-Real-IP").hops(1).build())
        .hasMessageStartingWith("hops: 1 (expected: ");
  }
}
