package dev.weir.identity;

import java.util.ArrayList;
import java.util.List;

/** The numbers of bits of an address that make a key. */
final class Prefixes {
  static final int IPV4 = 32;
  static final int IPV6 = 64;
  static final int MAX_IPV4 = 32;
  static final int MAX_IPV6 = 128;

  private Prefixes() {}

  /** Returns the problems of two prefixes, a line each. */
  static List<String> problems(int ipv4Prefix, int ipv6Prefix) {
    List<String> problems = new ArrayList<>();
    if (!valid(ipv4Prefix, MAX_IPV4)) {
      problems.add("ipv4-prefix: " + ipv4Prefix + " (expected: 1.." + MAX_IPV4 + ")");
    }
    if (!valid(ipv6Prefix, MAX_IPV6)) {
      problems.add("ipv6-prefix: " + ipv6Prefix + " (expected: 1.." + MAX_IPV6 + ")");
    }
    return problems;
  }

  private static boolean valid(int prefix, int most) {
    return prefix >= 1 && prefix <= most;
  }

  static void check(int ipv4Prefix, int ipv6Prefix) {
    if (!valid(ipv4Prefix, MAX_IPV4) || !valid(ipv6Prefix, MAX_IPV6)) {
      throw new IllegalArgumentException(String.join("\n", problems(ipv4Prefix, ipv6Prefix)));
    }
  }

  /**
   * Reads {@code 48}, a prefix for IPv6 alone, or {@code 24/48}, one for IPv4 and one for IPv6.
   *
   * @return both, the first 0 if there is none
   * @throws IllegalArgumentException with what was expected
   */
  static List<Integer> parse(String text) {
    int slash = text.indexOf('/');
    int ipv4 = slash < 0 ? 0 : number(text.substring(0, slash));
    int ipv6 = number(text.substring(slash + 1));
    // A single number up to 32 may be meant for IPv4; for IPv6 it would be a whole provider.
    boolean valid = slash < 0 ? ipv6 > MAX_IPV4 : ipv4 >= 1 && ipv4 <= MAX_IPV4 && ipv6 >= 1;
    if (!valid || ipv6 > MAX_IPV6) {
      throw new IllegalArgumentException(
          "{ip/48} with an IPv6 prefix of 33..128, or {ip/24/48} with one for IPv4 of 1..32 and one"
              + " for IPv6 of 1..128");
    }
    return List.of(ipv4, ipv6);
  }

  private static int number(String text) {
    boolean digits = !text.isEmpty() && text.length() <= 3;
    return digits && text.chars().allMatch(c -> c >= '0' && c <= '9') && text.charAt(0) != '0'
        ? Integer.parseInt(text)
        : -1;
  }
}
