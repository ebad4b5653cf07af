package dev.weir.identity;

import org.jspecify.annotations.Nullable;

/**
 * The client of a request, as far as it can be known: an address, or the proxy that hides it.
 * Immutable.
 */
public final class Client {
  /** The key of all clients whose address is not known. */
  static final String UNKNOWN = "unknown";

  private static final String VIA = "via ";

  private final @Nullable IpAddress address;
  private final boolean hidden;
  private final int ipv4Prefix;
  private final int ipv6Prefix;

  Client(@Nullable IpAddress address, boolean hidden, int ipv4Prefix, int ipv6Prefix) {
    this.address = address;
    this.hidden = hidden;
    this.ipv4Prefix = ipv4Prefix;
    this.ipv6Prefix = ipv6Prefix;
  }

  /**
   * Returns whether the client hides behind a trusted proxy that does not pass its address on. All
   * such clients share one key, {@code via} and the proxy's address.
   */
  public boolean hidden() {
    return hidden;
  }

  /**
   * Returns the key: the address cut to the prefix of its {@link ClientAddress}, for example {@code
   * 203.0.113.7}, {@code 2001:db8:1:2::/64}, {@code via 10.0.0.1} or {@code unknown}. It has no
   * control characters and at most 50 characters.
   */
  public String key() {
    return key(ipv4Prefix, ipv6Prefix);
  }

  /** Returns the key with another prefix for IPv6, 1 to 128. */
  public String key(int ipv6Prefix) {
    return key(ipv4Prefix, ipv6Prefix);
  }

  /** Returns the key with other prefixes, 1 to 32 and 1 to 128. */
  public String key(int ipv4Prefix, int ipv6Prefix) {
    Prefixes.check(ipv4Prefix, ipv6Prefix);
    String text = UNKNOWN;
    if (address != null) {
      // First converted to IPv4, then cut: under a short IPv6 prefix all of IPv4 would be one key.
      IpAddress shown = address.carried();
      int prefix = shown.v4() ? ipv4Prefix : ipv6Prefix;
      text =
          prefix == shown.bits()
              ? shown.toString()
              : new Cidr(shown.cut(prefix), prefix).toString();
    }
    return hidden ? VIA + text : text;
  }

  /** Returns {@link #key()}. */
  @Override
  public String toString() {
    return key();
  }
}
