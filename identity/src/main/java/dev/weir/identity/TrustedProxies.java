package dev.weir.identity;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The addresses of trusted proxies. */
record TrustedProxies(List<Cidr> ranges, boolean unixSocket) {
  /** Reads the ranges; errors are added to the problems. */
  static TrustedProxies of(List<String> texts, boolean unixSocket, List<String> problems) {
    List<Cidr> ranges = new ArrayList<>();
    for (String text : texts) {
      try {
        ranges.add(Cidr.parse(text));
      } catch (IllegalArgumentException e) {
        problems.add("trusted: " + QuotedText.of(text) + " (expected: " + e.getMessage() + ")");
      }
    }
    return new TrustedProxies(List.copyOf(ranges), unixSocket);
  }

  boolean contains(IpAddress address) {
    for (Cidr range : ranges) {
      if (range.contains(address)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether a header from this peer is read. With hops but without ranges, all addresses
   * are trusted.
   */
  boolean believes(@Nullable IpAddress peer, int hops) {
    if (peer == null) {
      return unixSocket;
    }
    return contains(peer) || (hops > 0 && ranges.isEmpty());
  }
}
