package dev.weir.identity;

/**
 * A range of addresses: {@code 10.0.0.0/8}.
 *
 * @param prefix the number of first bits that all addresses of the range share
 */
record Cidr(IpAddress network, int prefix) {
  private static final int MAPPED_BITS = 96;

  /**
   * Reads a range, or a single address. A range of IPv4-mapped addresses is the IPv4 range.
   *
   * @throws IllegalArgumentException with what was expected, if it is none, has bits behind its
   *     prefix, or holds all addresses
   */
  static Cidr parse(String text) {
    int slash = text.indexOf('/');
    IpAddress address = IpAddress.parse(text, 0, slash < 0 ? text.length() : slash);
    if (address == null) {
      throw new IllegalArgumentException(
          "an address or a range such as 10.0.0.0/8 or 2001:db8::/32");
    }
    boolean mapped = address.v4() && text.indexOf(':') >= 0;
    int before = mapped ? MAPPED_BITS : 0;
    int prefix = slash < 0 ? address.bits() : number(text, slash + 1) - before;
    if (prefix < 0 || prefix > address.bits()) {
      String written = slash < 0 ? text : text.substring(0, slash);
      throw new IllegalArgumentException(
          written + "/N with N from " + (before + 1) + " to " + (before + address.bits()));
    }
    if (prefix == 0) {
      throw new IllegalArgumentException(
          "the ranges of your own proxies; with all addresses trusted, each client is believed");
    }
    Cidr range = new Cidr(address.cut(prefix), prefix);
    if (!range.network.equals(address)) {
      throw new IllegalArgumentException(range.toString());
    }
    return range;
  }

  /**
   * Returns the decimal number without leading zeros, or a number that is too small for any prefix.
   */
  private static int number(String text, int from) {
    String digits = text.substring(from);
    boolean number =
        !digits.isEmpty()
            && digits.length() <= 3
            && digits.chars().allMatch(c -> c >= '0' && c <= '9')
            && (digits.length() == 1 || digits.charAt(0) != '0');
    return number ? Integer.parseInt(digits) : -1;
  }

  boolean contains(IpAddress address) {
    return address.v4() == network.v4() && address.cut(prefix).equals(network);
  }

  /** Returns the address, or the range if there is more than one in it. */
  @Override
  public String toString() {
    return prefix == network.bits() ? network.toString() : network + "/" + prefix;
  }
}
