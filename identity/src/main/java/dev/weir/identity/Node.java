package dev.weir.identity;

import org.jspecify.annotations.Nullable;

/**
 * A reader of addresses as proxies and containers write them: with or without brackets, zone and
 * port.
 */
final class Node {
  private static final int MAX_PORT = 65_535;
  private static final int MAX_PORT_DIGITS = 5;
  private static final int MAX_ZONE = 64;

  private Node() {}

  /**
   * Reads {@code 192.0.2.1}, {@code 192.0.2.1:80}, {@code 2001:db8::1}, {@code [2001:db8::1]} or
   * {@code [2001:db8::1]:80}; IPv6 with or without a zone, {@code fe80::1%eth0}. Port and zone are
   * dropped. A name is never resolved.
   *
   * @return null if it is no address, or {@code 0.0.0.0} or {@code ::}
   */
  static @Nullable IpAddress parse(@Nullable String text) {
    return text == null ? null : parse(text, 0, text.length(), false);
  }

  /**
   * Reads a part of a text, like {@link #parse(String)}; a port may be obfuscated (RFC 7239 6.3).
   */
  static @Nullable IpAddress parse(CharSequence text, int from, int to, boolean obfuscatedPorts) {
    IpAddress address = node(text, from, to, obfuscatedPorts);
    return address == null || address.unspecified() ? null : address;
  }

  private static @Nullable IpAddress node(CharSequence text, int from, int to, boolean obfuscated) {
    if (from < to && text.charAt(from) == '[') {
      int close = Span.find(text, ']', from, to);
      boolean closed = close < to && endsWithPort(text, close + 1, to, obfuscated);
      return closed ? ipv6(text, from + 1, close) : null;
    }
    int colon = Span.find(text, ':', from, to);
    if (colon == to) {
      return IpAddress.parse(text, from, to);
    }
    if (Span.find(text, ':', colon + 1, to) < to) {
      return ipv6(text, from, to);
    }
    // One colon is too few for IPv6, so a port follows it.
    return endsWithPort(text, colon, to, obfuscated) ? IpAddress.parse(text, from, colon) : null;
  }

  /** Reads an IPv6 address with or without a zone. */
  private static @Nullable IpAddress ipv6(CharSequence text, int from, int to) {
    int end = Span.find(text, '%', from, to);
    boolean six = Span.find(text, ':', from, end) < end;
    return six && (end == to || zone(text, end + 1, to)) ? IpAddress.parse(text, from, end) : null;
  }

  private static boolean zone(CharSequence text, int from, int to) {
    if (from >= to || to - from > MAX_ZONE) {
      return false;
    }
    for (int i = from; i < to; i++) {
      if (!named(text.charAt(i)) && text.charAt(i) != '~') {
        return false;
      }
    }
    return true;
  }

  /** Returns whether nothing follows, or a colon and a port. */
  private static boolean endsWithPort(CharSequence text, int from, int to, boolean obfuscated) {
    if (from == to) {
      return true;
    }
    int start = from + 1;
    if (text.charAt(from) != ':' || start == to) {
      return false;
    }
    if (obfuscated && text.charAt(start) == '_') {
      boolean named = start + 1 < to;
      for (int i = start + 1; i < to && named; i++) {
        named = named(text.charAt(i));
      }
      return named;
    }
    int port = 0;
    for (int i = start; i < to; i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9' || i - start == MAX_PORT_DIGITS) {
        return false;
      }
      port = 10 * port + c - '0';
    }
    return port <= MAX_PORT;
  }

  /** Returns whether RFC 7239 allows the character in an obfuscated name. */
  private static boolean named(char c) {
    return (c >= '0' && c <= '9')
        || (c >= 'A' && c <= 'Z')
        || (c >= 'a' && c <= 'z')
        || c == '.'
        || c == '_'
        || c == '-';
  }
}
