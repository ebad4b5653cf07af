package dev.weir.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AddressRangesTest {
  private static AddressRanges<String> ranges(String... texts) {
    Map<String, String> byRange = new LinkedHashMap<>();
    for (String text : texts) {
      byRange.put(text, text);
    }
    return AddressRanges.of(byRange);
  }

  @Test
  void smallestRange_isFound() {
    AddressRanges<String> ranges =
        ranges("172.16.0.0/12", "172.16.5.0/24", "2001:db8::/32", "2001:db8:5::/48");
    assertThat(ranges.find("172.20.1.1")).isEqualTo("172.16.0.0/12");
    assertThat(ranges.find("172.16.5.200")).isEqualTo("172.16.5.0/24");
    assertThat(ranges.find("172.32.0.0")).isNull();
    assertThat(ranges.find("2001:db8:5:1::/64")).isEqualTo("2001:db8:5::/48");
    assertThat(ranges.find("2001:db8:6:1::/64")).isEqualTo("2001:db8::/32");
    assertThat(ranges.find("[2001:db8:5::1]:443")).isEqualTo("2001:db8:5::/48");
    assertThat(ranges.find("::ffff:172.20.1.1")).isEqualTo("172.16.0.0/12");
  }

  @Test
  void networkThatIsLargerThanARange_isNotInIt() {
    AddressRanges<String> ranges = ranges("172.16.5.0/24");
    assertThat(ranges.find("172.16.5.0/24")).isEqualTo("172.16.5.0/24");
    assertThat(ranges.find("172.16.5.128/25")).isEqualTo("172.16.5.0/24");
    assertThat(ranges.find("172.16.0.0/16")).isNull();
  }

  @Test
  void textThatIsNoAddress_isInNone() {
    AddressRanges<String> ranges = ranges("0.0.0.0/1", "128.0.0.0/1");
    for (String text : new String[] {"", "-", "via 10.0.0.1", "alice", "1.2.3", "1.2.3.4/33"}) {
      assertThat(ranges.find(text)).as(text).isNull();
    }
  }

  @Test
  void onlyNetworksWithTheirPrefix_areRanges() {
    for (String text : new String[] {"10.0.0.0/8", "10.1.2.3/32", "2001:db8::/32", "::1/128"}) {
      assertThat(AddressRanges.isRange(text)).as(text).isTrue();
    }
    for (String text :
        new String[] {"10.0.0.1", "10.0.0.1/8", "0.0.0.0/0", "10.0.0.0/08", "a/8", "/api/1", "/"}) {
      assertThat(AddressRanges.isRange(text)).as(text).isFalse();
    }
    assertThatThrownBy(() -> ranges("10.0.0.1/8"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("\"10.0.0.1/8\" (expected: a range such as 10.0.0.0/8 or 2001:db8::/32)");
  }

  /** Compares with arithmetic on whole addresses. */
  @Test
  void randomRangesAndAddresses_agreeWithArithmetic() throws Exception {
    long seed = Long.getLong("weir.seed", System.nanoTime());
    System.out.println("AddressRangesTest: 200 runs, -Dweir.seed=" + seed);
    Random random = new Random(seed);
    for (int run = 0; run < 200; run++) {
      int bits = random.nextBoolean() ? 32 : 128;
      Map<String, Integer> byRange = new LinkedHashMap<>();
      Map<Integer, BigInteger> networks = new LinkedHashMap<>();
      Map<Integer, Integer> prefixes = new LinkedHashMap<>();
      BigInteger base = new BigInteger(bits, random).setBit(bits - 2);
      for (int i = 0; i < 20; i++) {
        int prefix = 1 + random.nextInt(bits);
        BigInteger near = base.xor(new BigInteger(1 + random.nextInt(bits), random));
        BigInteger network = near.shiftRight(bits - prefix).shiftLeft(bits - prefix);
        if (byRange.putIfAbsent(text(network, bits) + "/" + prefix, i) == null) {
          networks.put(i, network);
          prefixes.put(i, prefix);
        }
      }
      AddressRanges<Integer> ranges = AddressRanges.of(byRange);
      for (int i = 0; i < 50; i++) {
        BigInteger address = base.xor(new BigInteger(1 + random.nextInt(bits), random));
        Integer right = null;
        int longest = 0;
        for (Map.Entry<Integer, Integer> each : prefixes.entrySet()) {
          int prefix = each.getValue();
          BigInteger network = networks.getOrDefault(each.getKey(), BigInteger.ZERO);
          boolean inside =
              address.shiftRight(bits - prefix).equals(network.shiftRight(bits - prefix));
          if (inside && prefix > longest) {
            right = each.getKey();
            longest = prefix;
          }
        }
        String text = text(address, bits);
        if (!InetAddress.getByName(text).isAnyLocalAddress()) {
          assertThat(ranges.find(text)).as("%s in %s", text, byRange).isEqualTo(right);
        }
      }
    }
  }

  private static String text(BigInteger address, int bits) throws Exception {
    byte[] bytes = new byte[bits / 8];
    byte[] number = address.toByteArray();
    for (int i = 0; i < bytes.length && i < number.length; i++) {
      bytes[bytes.length - 1 - i] = number[number.length - 1 - i];
    }
    return InetAddress.getByAddress(bytes).getHostAddress();
  }
}
