package dev.weir.traffic.internal.read;

import dev.weir.identity.AddressKey;

/** A recognizer of IP addresses and host names by their form. */
public final class Address {
  /** The start of the loopback address's network; without a prefix it is the address of no host. */
  private static final String FIRST_NETWORK = "::";

  private Address() {}

  /** Returns whether the text is an IPv4 or IPv6 address, without a port. */
  public static boolean is(String text) {
    int dots = 0;
    int colons = 0;
    int letters = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '.') {
        dots++;
      } else if (c == ':') {
        colons++;
      } else if (c == '%' && colons >= 2) {
        break; // A zone follows.
      } else if (c < '0' || c > '9') {
        letters++;
        if (Character.digit(c, 16) < 0 || c > 'f') {
          return false;
        }
      }
    }
    // A time of day has colons as well, so a text that may be IPv6 has to be parsed.
    return colons == 0
        ? dots == 3 && letters == 0 && fourBytes(text)
        : colons >= 2 && AddressKey.WHOLE.of(text) != null;
  }

  /** Returns whether the text is an address, or a network's address with its prefix. */
  public static boolean isKey(String text) {
    int slash = text.indexOf('/');
    String address = slash < 0 ? text : text.substring(0, slash);
    return is(address) || (slash >= 0 && address.equals(FIRST_NETWORK));
  }

  private static boolean fourBytes(String text) {
    int value = -1;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '.') {
        if (value < 0) {
          return false;
        }
        value = -1;
      } else {
        value = 10 * Math.max(value, 0) + c - '0';
        if (value > 255) {
          return false;
        }
      }
    }
    return value >= 0;
  }

  /**
   * Returns whether the text may be a host's name: letters, digits, dots, hyphens; not a single
   * hyphen.
   */
  static boolean mayBeHost(String text) {
    boolean letter = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      letter |= Character.isLetter(c);
      if (!Character.isLetterOrDigit(c) && c != '.' && c != '-' && c != '_') {
        return false;
      }
    }
    return letter;
  }
}
