package dev.weir.identity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IpAddressTest {
  private static final int RUNS = 50_000;

  private static @Nullable IpAddress parse(String text) {
    return IpAddress.parse(text, 0, text.length());
  }

  /** The canonical texts are RFC 5952's examples and those of its rules. */
  @ParameterizedTest
  @CsvSource({
    "2001:0db8::0001, 2001:db8::1",
    "2001:db8:0:0:0:0:2:1, 2001:db8::2:1",
    "2001:db8:0:1:1:1:1:1, 2001:db8:0:1:1:1:1:1",
    "2001:0:0:1:0:0:0:1, 2001:0:0:1::1",
    "2001:db8:0:0:1:0:0:1, 2001:db8::1:0:0:1",
    "2001:DB8::ABCD, 2001:db8::abcd",
    "1:2:3:4:5:6:0:0, 1:2:3:4:5:6::",
    "0:0:3:4:5:6:7:8, ::3:4:5:6:7:8",
    "1:2:3:4:5:6:7::, 1:2:3:4:5:6:7:0",
    "::2:3:4:5:6:7:8, 0:2:3:4:5:6:7:8",
    "::1, ::1",
    "::, ::",
    "::1.2.3.4, ::102:304",
    "1:2:3:4:5:6:1.2.3.4, 1:2:3:4:5:6:102:304",
    "::ffff:1.2.3.4, 1.2.3.4",
    "::ffff:0:1.2.3.4, ::ffff:0:102:304",
    "255.255.255.255, 255.255.255.255",
    "0.0.0.0, 0.0.0.0",
  })
  void address_hasOneText(String text, String canonical) {
    assertThat(parse(text)).hasToString(canonical);
    assertThat(parse(canonical)).isEqualTo(parse(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "1",
        "1.2.3",
        "127.1",
        "1.2.3.4.",
        ".1.2.3.4",
        "1..2.3",
        "1.2.3.256",
        "1.2.3.04",
        "00.0.0.0",
        "0x1.2.3.4",
        "1.2.3.+4",
        "1.2.3.4 ",
        "1.2.3.\u0664",
        "1.2.3.-1",
        "3405803783",
        ":",
        ":::",
        "1::2::3",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8",
        "1:2:3:4::5:6:7:8",
        ":1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:",
        "12345::",
        "::g",
        "::1.2.3",
        "::1.2.3.04",
        "1.2.3.4::",
        "::1.2.3.4:5",
        "1:2:3:4:5:6:7:1.2.3.4",
        "::%eth0",
        "[::1]",
        "::1/64",
        "\uff11::",
        "::\u0141"
      })
  void otherText_isNoAddress(String text) {
    assertThat(parse(text)).isNull();
  }

  @Test
  void textOfAnAddress_isThatAddress() {
    Random random = new Random(Trials.random("texts of addresses", RUNS).nextLong());
    RandomAddress addresses = new RandomAddress(random);
    for (int i = 0; i < RUNS; i++) {
      int[] groups = addresses.groups();
      long high = 0;
      long low = 0;
      for (int j = 0; j < 4; j++) {
        high = high << 16 | groups[j];
        low = low << 16 | groups[j + 4];
      }
      IpAddress address =
          random.nextBoolean() ? IpAddress.ipv4(low & 0xffff_ffffL) : IpAddress.of(high, low);
      assertThat(parse(address.toString())).isEqualTo(address);
    }
  }

  /** Compares with Java, which reads literals without a name server; all of these are literals. */
  @Test
  void writtenAddress_isWhatJavaReads() throws Exception {
    Random random = new Random(Trials.random("written addresses", RUNS).nextLong());
    RandomAddress addresses = new RandomAddress(random);
    for (int i = 0; i < RUNS; i++) {
      String text = random.nextInt(4) == 0 ? addresses.v4() : addresses.written(addresses.groups());
      assertThat(parse(text)).as(text).isEqualTo(ofJava(InetAddress.getByName(text)));
    }
  }

  private static IpAddress ofJava(InetAddress address) {
    ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
    if (address instanceof Inet4Address) {
      return IpAddress.ipv4(bytes.getInt() & 0xffff_ffffL);
    }
    assertThat(address).isInstanceOf(Inet6Address.class);
    return new IpAddress(false, bytes.getLong(), bytes.getLong());
  }

  @Test
  void cutAddress_keepsItsFirstBits() {
    IpAddress six = Objects.requireNonNull(parse("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
    assertThat(six.cut(128)).isEqualTo(six);
    assertThat(six.cut(65)).hasToString("ffff:ffff:ffff:ffff:8000::");
    assertThat(six.cut(64)).hasToString("ffff:ffff:ffff:ffff::");
    assertThat(six.cut(63)).hasToString("ffff:ffff:ffff:fffe::");
    assertThat(six.cut(1)).hasToString("8000::");
    IpAddress four = Objects.requireNonNull(parse("255.255.255.255"));
    assertThat(four.cut(32)).isEqualTo(four);
    assertThat(four.cut(31)).hasToString("255.255.255.254");
    assertThat(four.cut(1)).hasToString("128.0.0.0");
  }

  @ParameterizedTest
  @CsvSource({
    "64:ff9b::203.0.113.7, 203.0.113.7",
    "64:ff9b:0:0:0:1:cb00:7107, 64:ff9b::1:cb00:7107",
    "64:ff9b:1::203.0.113.7, 64:ff9b:1::cb00:7107",
    "2002:cb00:7107::, 203.0.113.7",
    "2003:cb00:7107::, 2003:cb00:7107::",
    "203.0.113.7, 203.0.113.7",
  })
  void carriedAddress_isTheIpv4AddressWithin(String text, String carried) {
    assertThat(Objects.requireNonNull(parse(text)).carried()).hasToString(carried);
  }
}
