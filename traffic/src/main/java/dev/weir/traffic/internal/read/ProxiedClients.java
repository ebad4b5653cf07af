package dev.weir.traffic.internal.read;

import dev.weir.identity.ClientAddress;
import dev.weir.identity.RequestView;
import dev.weir.traffic.TrafficException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A finder of the clients behind trusted proxies, in the addresses that a log has, as {@link
 * ClientAddress} finds them in a request. Not safe for use by several threads.
 */
final class ProxiedClients {
  /** The text that a log writes for an absent value. */
  private static final String NOTHING = "-";

  private static final int WHOLE_IPV6 = 128;

  private final ClientAddress address;

  private ProxiedClients(ClientAddress address) {
    this.address = address;
  }

  /**
   * Returns a finder; null if no proxy is trusted.
   *
   * @throws TrafficException if a range is malformed
   */
  static @Nullable ProxiedClients behind(List<String> ranges) throws TrafficException {
    if (ranges.isEmpty()) {
      return null;
    }
    try {
      return new ProxiedClients(
          ClientAddress.builder()
              .trusted(ranges)
              .header("X-Forwarded-For")
              .trustUnixSocket(true)
              .ipv6Prefix(WHOLE_IPV6)
              .build());
    } catch (IllegalArgumentException e) {
      String problems = String.valueOf(e.getMessage());
      throw new TrafficException(problems.replace("trusted: ", "trusted-proxies: "));
    }
  }

  /**
   * Returns the client: the first address from the right that is not trusted.
   *
   * @param forwarded the list of a header; empty for none
   * @param peer the connection's other end, which stands right of the list
   */
  String of(String forwarded, String peer) {
    boolean alone = forwarded.isEmpty() || forwarded.equals(NOTHING);
    return address.of(new LoggedAddresses(alone ? List.of(peer) : List.of(forwarded, peer))).key();
  }

  /** The addresses of a record, as the lines of a header that comes from a trusted peer. */
  private record LoggedAddresses(List<String> lines) implements RequestView {
    @Override
    public @Nullable String peer() {
      return null;
    }

    @Override
    public boolean unixSocket() {
      return true;
    }

    @Override
    public List<String> headers(String name) {
      return lines;
    }

    @Override
    public String method() {
      return "";
    }

    @Override
    public String path() {
      return "";
    }
  }
}
