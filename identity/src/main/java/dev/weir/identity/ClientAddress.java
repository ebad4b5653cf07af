package dev.weir.identity;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A finder of the client of a request. Without settings the client is the connection's other end,
 * and no header is read. Behind proxies, one header is read from the right, past the proxies that
 * are trusted, to the first address that is not: everything left of it is the client's own text.
 *
 * <pre>{@code
 * ClientAddress address =
 *     ClientAddress.builder().trusted("10.0.0.0/8").header("X-Forwarded-For").build();
 * String key = address.of(request).key();
 * }</pre>
 *
 * <p>Immutable except for its counter, and safe for use by several threads. No name is ever
 * resolved.
 */
public final class ClientAddress {
  /*
   * Why from the right, and why does the walk end at an element that it cannot read? Each proxy
   * adds its peer's address at the right. So the last element is from our own proxy and true, and
   * each element is as true as the proxy that wrote it, the one right of it. The first address that
   * is no trusted proxy is therefore the client, and nothing left of it counts. An element that is
   * no address, such as `unknown`, was written by a trusted proxy about a client that it does not
   * name. If the walk took the element left of it, that client could choose its key. If it took the
   * element itself as a key, a proxy that makes up a new name for every request would make a new
   * key for every request. So all clients hidden behind one proxy share one key, apart from the
   * proxy's own.
   */

  private final TrustedProxies trusted;
  private final @Nullable String header;
  private final HeaderForm form;
  private final int hops;
  private final int ipv4Prefix;
  private final int ipv6Prefix;
  private final LongAdder hidden = new LongAdder();

  private ClientAddress(Builder builder, TrustedProxies trusted) {
    this.trusted = trusted;
    header = builder.header;
    form = builder.form == null ? HeaderForm.of(header == null ? "" : header) : builder.form;
    hops = builder.hops;
    ipv4Prefix = builder.ipv4Prefix;
    ipv6Prefix = builder.ipv6Prefix;
  }

  /** Returns a finder that takes the connection's other end, and reads no header. */
  public static ClientAddress ofPeer() {
    return builder().build();
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Returns the client of the request. Reads at most one header. */
  public Client of(RequestView request) {
    String known = request.finalAddress();
    if (known != null) {
      return client(Node.parse(known));
    }
    IpAddress peer = request.unixSocket() ? null : Node.parse(request.peer());
    if (header == null || !trusted.believes(peer, hops)) {
      return client(peer);
    }
    return read(peer, request.headers(header));
  }

  /**
   * Returns the client's key if no header is read and the client is an IPv4 address whose text is
   * its key; otherwise null: the client has to be found first.
   */
  @Nullable String writtenKey(RequestView request) {
    if (header != null || ipv4Prefix != Prefixes.MAX_IPV4) {
      return null;
    }
    String known = request.finalAddress();
    String text = known != null || request.unixSocket() ? known : request.peer();
    return text != null && IpAddress.isHost4(text) ? text : null;
  }

  /** Reads the header's lines, which come from a trusted peer. */
  Client read(@Nullable IpAddress peer, List<? extends CharSequence> lines) {
    if (form == HeaderForm.SINGLE) {
      return single(peer, lines);
    }
    return hops > 0 ? counted(peer, lines) : walked(peer, lines);
  }

  /** Returns how many requests have had a {@linkplain Client#hidden hidden} client. */
  public long hiddenCount() {
    return hidden.sum();
  }

  /** Returns the first address from the right that is not trusted. */
  private Client walked(@Nullable IpAddress peer, List<? extends CharSequence> lines) {
    IpAddress farthest = peer;
    ElementsFromRight elements = new ElementsFromRight(lines);
    while (elements.next()) {
      IpAddress address = elements.tooMany() ? null : elements.address(form);
      if (address == null) {
        return hiddenBehind(farthest);
      }
      if (!trusted.contains(address)) {
        return client(address);
      }
      farthest = address;
    }
    return client(farthest);
  }

  /** Returns the element at a fixed place from the right. */
  private Client counted(@Nullable IpAddress peer, List<? extends CharSequence> lines) {
    ElementsFromRight elements = new ElementsFromRight(lines);
    for (int i = 0; i < hops; i++) {
      if (!elements.next()) {
        return hiddenBehind(peer);
      }
    }
    IpAddress address = elements.address(form);
    return address == null ? hiddenBehind(peer) : client(address);
  }

  /** Returns the header's only address. */
  private Client single(@Nullable IpAddress peer, List<? extends CharSequence> lines) {
    if (lines.isEmpty()) {
      return client(peer);
    }
    CharSequence line = lines.get(0);
    int from = Span.skip(line, 0, line.length());
    int to = Span.skipBack(line, from, line.length());
    IpAddress address = lines.size() > 1 ? null : Node.parse(line, from, to, false);
    return address == null ? hiddenBehind(peer) : client(address);
  }

  private Client client(@Nullable IpAddress address) {
    return new Client(address, false, ipv4Prefix, ipv6Prefix);
  }

  private Client hiddenBehind(@Nullable IpAddress proxy) {
    hidden.increment();
    return new Client(proxy, true, ipv4Prefix, ipv6Prefix);
  }

  /** A builder with the settings. */
  public static final class Builder {
    private final List<String> trusted = new ArrayList<>();
    private @Nullable String header;
    private @Nullable HeaderForm form;
    private int hops;
    private int ipv4Prefix = Prefixes.IPV4;
    private int ipv6Prefix = Prefixes.IPV6;
    private boolean trustUnixSocket;

    private Builder() {}

    /**
     * Adds addresses or ranges of trusted proxies, for example {@code 10.0.0.0/8}. The header is
     * read only if it comes from one of them, and they are passed over in it.
     */
    public Builder trusted(String... ranges) {
      return trusted(List.of(ranges));
    }

    /** Adds addresses or ranges of trusted proxies, like {@link #trusted(String...)}. */
    public Builder trusted(Collection<String> ranges) {
      trusted.addAll(ranges);
      return this;
    }

    /**
     * Sets the one header that is read, in the form that is usual for its name ({@link
     * HeaderForm#of}). The proxies must add to it or write it anew; a proxy that passes it on as
     * the client sent it lets every client choose its key. Null, the default, for none.
     */
    public Builder header(@Nullable String name) {
      header = name;
      form = null;
      return this;
    }

    /**
     * Sets the one header that is read, like {@link #header(String)}, for a header with a form of
     * its own.
     */
    public Builder header(String name, HeaderForm form) {
      header = name;
      this.form = form;
      return this;
    }

    /**
     * Sets the client's place in the header, counted from the right, for proxies whose addresses
     * are not known: with 1 it is the last element. With {@link #trusted}, the peer must be one of
     * the trusted addresses. 0, the default, for none; at most 64.
     */
    public Builder hops(int hops) {
      this.hops = hops;
      return this;
    }

    /** Sets how many bits of an IPv4 address make the key, 1 to 32. Default: 32. */
    public Builder ipv4Prefix(int bits) {
      ipv4Prefix = bits;
      return this;
    }

    /**
     * Sets how many bits of an IPv6 address make the key, 1 to 128. Default: 64, the smallest
     * network that a customer is given.
     */
    public Builder ipv6Prefix(int bits) {
      ipv6Prefix = bits;
      return this;
    }

    /** Sets whether a connection without an address comes from a trusted proxy. Default: no. */
    public Builder trustUnixSocket(boolean trust) {
      trustUnixSocket = trust;
      return this;
    }

    /**
     * Checks the settings.
     *
     * @throws IllegalArgumentException with everything that is wrong, a line each in the form
     *     {@code name: value (expected: constraint)}
     */
    public ClientAddress build() {
      List<String> problems = new ArrayList<>();
      TrustedProxies ranges = TrustedProxies.of(trusted, trustUnixSocket, problems);
      boolean trusts = !trusted.isEmpty() || hops > 0 || trustUnixSocket;
      if (header != null && !HeaderNames.valid(header)) {
        problems.add("header: " + QuotedText.of(header) + " (expected: the name of a header)");
      } else if (header != null && !trusts) {
        problems.add(
            "header: "
                + QuotedText.of(header)
                + " (expected: trusted proxies or a number of hops with it; it is read from no one"
                + " else)");
      }
      if (hops < 0 || hops > ElementsFromRight.MAX) {
        problems.add("hops: " + hops + " (expected: 0.." + ElementsFromRight.MAX + ")");
      } else if (hops > 0 && (header == null || singleForm(header))) {
        problems.add(
            "hops: "
                + hops
                + " (expected: a header with a list, such as X-Forwarded-For, to count them in)");
      }
      problems.addAll(Prefixes.problems(ipv4Prefix, ipv6Prefix));
      if (!problems.isEmpty()) {
        throw new IllegalArgumentException(String.join("\n", problems));
      }
      return new ClientAddress(this, ranges);
    }

    private boolean singleForm(String name) {
      return (form == null ? HeaderForm.of(name) : form) == HeaderForm.SINGLE;
    }
  }
}
