package dev.weir.identity;

import org.jspecify.annotations.Nullable;

/**
 * An IPv4 or IPv6 address. IPv4-mapped addresses ({@code ::ffff:0:0/96}) are the IPv4 address that
 * they carry, so one host has one address in whatever form the socket has it.
 *
 * @param v4 true if it is IPv4: then {@code high} is 0, and {@code low} below 2^32
 * @param high the upper 64 bits
 * @param low the lower 64 bits
 */
record IpAddress(boolean v4, long high, long low) {
  private static final int GROUPS = 8;

  /** {@code 64:ff9b::/96}: an IPv4 address behind a translator (RFC 6052). */
  private static final long NAT64_HIGH = 0x0064_ff9b_0000_0000L;

  /** {@code 2002::/16}: a site whose IPv4 address is in the next 32 bits (RFC 3056). */
  private static final long SIX_TO_FOUR = 0x2002;

  private static final long INT = 0xffff_ffffL;

  /** Returns the IPv6 address of these bits, or the IPv4 address that is mapped into it. */
  static IpAddress of(long high, long low) {
    boolean mapped = high == 0 && low >>> 32 == 0xffff;
    return mapped ? ipv4(low & INT) : new IpAddress(false, high, low);
  }

  static IpAddress ipv4(long bits) {
    return new IpAddress(true, 0, bits);
  }

  /**
   * Reads four decimal octets without leading zeros, or IPv6 as RFC 4291 writes it, without a zone.
   *
   * @return null if the text is anything else
   */
  static @Nullable IpAddress parse(CharSequence text, int from, int to) {
    if (Span.find(text, ':', from, to) < to) {
      return parse6(text, from, to);
    }
    long bits = parse4(text, from, to);
    return bits < 0 ? null : ipv4(bits);
  }

  /** Returns whether the text is an IPv4 address, which has only one text form, and not 0.0.0.0. */
  static boolean isHost4(String text) {
    return parse4(text, 0, text.length()) > 0;
  }

  /** Returns the 32 bits of an IPv4 address, or -1. */
  private static long parse4(CharSequence text, int from, int to) {
    long bits = 0;
    int at = from;
    for (int octet = 0; octet < 4; octet++) {
      if (octet > 0 && (at >= to || text.charAt(at++) != '.')) {
        return -1;
      }
      int start = at;
      int value = 0;
      while (at < to && at - start < 3 && digit(text.charAt(at))) {
        value = 10 * value + text.charAt(at++) - '0';
      }
      boolean leadingZero = at - start > 1 && text.charAt(start) == '0';
      if (at == start || leadingZero || value > 255) {
        return -1;
      }
      bits = bits << 8 | value;
    }
    return at == to ? bits : -1;
  }

  private static @Nullable IpAddress parse6(CharSequence text, int from, int to) {
    int[] groups = new int[GROUPS];
    int count = 0;
    int gap = -1; // The number of groups before the ::
    int at = from;
    if (at + 1 < to && text.charAt(at) == ':' && text.charAt(at + 1) == ':') {
      gap = 0;
      at += 2;
    }
    while (at < to) {
      int end = at;
      int value = 0;
      while (end < to && end - at < 4 && hex(text.charAt(end)) >= 0) {
        value = value << 4 | hex(text.charAt(end++));
      }
      if (end < to && text.charAt(end) == '.') {
        long bits = parse4(text, at, to);
        if (bits < 0 || count > GROUPS - 2) {
          return null;
        }
        groups[count++] = (int) (bits >>> 16);
        groups[count++] = (int) (bits & 0xffff);
        break;
      }
      if (end == at || count == GROUPS) {
        return null;
      }
      groups[count++] = value;
      at = end;
      if (at < to && (text.charAt(at) != ':' || ++at == to)) {
        return null;
      }
      if (at < to && at > end && text.charAt(at) == ':') {
        if (gap >= 0) {
          return null;
        }
        gap = count;
        at++;
      }
    }
    if (gap < 0 ? count < GROUPS : count == GROUPS) {
      return null;
    }
    return of(groups, count, gap);
  }

  /**
   * Returns the address of these groups: those behind the gap are at the end; those between are
   * zero.
   */
  private static IpAddress of(int[] groups, int count, int gap) {
    long high = 0;
    long low = 0;
    for (int i = 0; i < GROUPS; i++) {
      int zeros = gap < 0 ? 0 : GROUPS - count;
      int group = gap < 0 || i < gap ? groups[i] : i < gap + zeros ? 0 : groups[i - zeros];
      high = high << 16 | low >>> 48;
      low = low << 16 | group;
    }
    return of(high, low);
  }

  /** Returns whether it is {@code 0.0.0.0} or {@code ::}, which no client has. */
  boolean unspecified() {
    return high == 0 && low == 0;
  }

  /**
   * Returns the IPv4 address if this is one behind a translator or of a 6to4 site, else this
   * address.
   */
  IpAddress carried() {
    if (v4) {
      return this;
    }
    if (high == NAT64_HIGH && low >>> 32 == 0) {
      return ipv4(low);
    }
    return high >>> 48 == SIX_TO_FOUR ? ipv4(high >>> 16 & INT) : this;
  }

  /** Returns the address with only its first bits, the others zero. */
  IpAddress cut(int prefix) {
    if (v4) {
      return ipv4(low & mask(32 + prefix));
    }
    // Not of(): an IPv6 network stays one, even if its first bits are those of a mapped address.
    return new IpAddress(false, high & mask(prefix), low & mask(prefix - 64));
  }

  /** Returns 64 bits, of which the first {@code ones} are set. */
  private static long mask(int ones) {
    return ones <= 0 ? 0 : ones >= 64 ? -1L : -1L << (64 - ones);
  }

  /** Returns the number of bits: 32 or 128. */
  int bits() {
    return v4 ? 32 : 128;
  }

  /** Returns the text of the address, IPv6 as RFC 5952 writes it. */
  @Override
  public String toString() {
    if (v4) {
      return octet(24) + "." + octet(16) + "." + octet(8) + "." + octet(0);
    }
    StringBuilder text = new StringBuilder(40);
    int gap = -1;
    int longest = 1; // A single zero is no gap.
    for (int i = 0; i < GROUPS; i++) {
      int zeros = 0;
      while (i + zeros < GROUPS && group(i + zeros) == 0) {
        zeros++;
      }
      if (zeros > longest) {
        gap = i;
        longest = zeros;
      }
    }
    for (int i = 0; i < GROUPS; i++) {
      if (i == gap) {
        text.append("::");
        i += longest - 1;
      } else {
        boolean separate = i > 0 && i != gap + longest;
        text.append(separate || (i > 0 && gap < 0) ? ":" : "").append(Long.toHexString(group(i)));
      }
    }
    return text.toString();
  }

  private int octet(int shift) {
    return (int) (low >>> shift) & 0xff;
  }

  private long group(int i) {
    return (i < 4 ? high >>> (48 - 16 * i) : low >>> (112 - 16 * i)) & 0xffff;
  }

  private static boolean digit(char c) {
    return c >= '0' && c <= '9';
  }

  private static int hex(char c) {
    if (digit(c)) {
      return c - '0';
    }
    int lower = c | 0x20;
    return c < 0x80 && lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  }
}
