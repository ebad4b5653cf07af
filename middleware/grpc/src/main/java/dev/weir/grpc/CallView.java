package dev.weir.grpc;

import dev.weir.identity.RequestView;
import io.grpc.Metadata;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A gRPC call as a request: its method is the full method name, for example {@code shop.Cart/Add}.
 */
final class CallView implements RequestView {
  /** The name of Netty's class, which transports contain under several package names. */
  private static final String NETTY_UNIX_ADDRESS = "DomainSocketAddress";

  private final String fullMethod;
  private final Metadata headers;
  private final @Nullable String authority;
  private final @Nullable SocketAddress peer;
  private final Supplier<@Nullable String> login;

  /**
   * @param peer null if the call has none, or none is known
   * @param login called when a descriptor needs it
   */
  CallView(
      String fullMethod,
      Metadata headers,
      @Nullable String authority,
      @Nullable SocketAddress peer,
      Supplier<@Nullable String> login) {
    this.fullMethod = fullMethod;
    this.headers = headers;
    this.authority = authority;
    this.peer = peer;
    this.login = login;
  }

  @Override
  public @Nullable String peer() {
    InetAddress address = peer instanceof InetSocketAddress internet ? internet.getAddress() : null;
    return address == null ? null : address.getHostAddress();
  }

  @Override
  public boolean unixSocket() {
    return peer instanceof UnixDomainSocketAddress
        || (peer != null && peer.getClass().getSimpleName().equals(NETTY_UNIX_ADDRESS));
  }

  /** Returns the values of a text header; binary headers are not read. */
  @Override
  public List<String> headers(String name) {
    if (name.regionMatches(
        true,
        name.length() - Metadata.BINARY_HEADER_SUFFIX.length(),
        Metadata.BINARY_HEADER_SUFFIX,
        0,
        Metadata.BINARY_HEADER_SUFFIX.length())) {
      return List.of();
    }
    Metadata.Key<String> key;
    try {
      key = Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
    } catch (IllegalArgumentException e) {
      return List.of(); // HTTP has names that gRPC does not have.
    }
    Iterable<String> lines = headers.getAll(key);
    if (lines == null) {
      return List.of();
    }
    List<String> found = new ArrayList<>(2);
    lines.forEach(found::add);
    return found;
  }

  @Override
  public String method() {
    return fullMethod;
  }

  @Override
  public String path() {
    return "/" + fullMethod;
  }

  /** Returns the path: gRPC has no patterns. */
  @Override
  public String route() {
    return path();
  }

  @Override
  public @Nullable String host() {
    return authority;
  }

  @Override
  public @Nullable String login() {
    return login.get();
  }
}
