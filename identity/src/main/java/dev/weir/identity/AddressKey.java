package dev.weir.identity;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The key of an address, as {@code {ip}}, {@code {ip/48}} and {@code {ip/24/48}} make it of a
 * request: the only definition of these fields, for readers of logs as well. Immutable.
 */
public final class AddressKey {
  /** The key of {@code {ip}}: all of an IPv4 address, and the network of an IPv6 address. */
  public static final AddressKey USUAL = new AddressKey(Prefixes.IPV4, Prefixes.IPV6);

  /** The whole of an address, in the one form that it has in keys. */
  public static final AddressKey WHOLE = new AddressKey(Prefixes.MAX_IPV4, Prefixes.MAX_IPV6);

  private final int ipv4Prefix;
  private final int ipv6Prefix;

  private AddressKey(int ipv4Prefix, int ipv6Prefix) {
    this.ipv4Prefix = ipv4Prefix;
    this.ipv6Prefix = ipv6Prefix;
  }

  /**
   * Reads the text behind {@code ip/}: {@code 48}, a prefix for IPv6, or {@code 24/48}, one for
   * IPv4 and one for IPv6.
   *
   * @throws IllegalArgumentException if it is neither; the message is what was expected
   */
  public static AddressKey ofPrefixes(String text) {
    List<Integer> prefixes = Prefixes.parse(text);
    return new AddressKey(prefixes.get(0) == 0 ? Prefixes.IPV4 : prefixes.get(0), prefixes.get(1));
  }

  /**
   * Returns the key of an address with or without brackets, zone and port.
   *
   * @return null if the text is no address, or {@code 0.0.0.0} or {@code ::}
   */
  public @Nullable String of(String address) {
    if (ipv4Prefix == Prefixes.MAX_IPV4 && IpAddress.isHost4(address)) {
      return address; // The usual case: its text is its key.
    }
    IpAddress parsed = Node.parse(address);
    return parsed == null ? null : new Client(parsed, false, ipv4Prefix, ipv6Prefix).key();
  }
}
