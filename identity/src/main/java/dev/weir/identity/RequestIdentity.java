package dev.weir.identity;

import org.jspecify.annotations.Nullable;

/**
 * The values of one request that templates need: the client is found once, when the first of them
 * needs it. For one thread, for as long as its request.
 */
public final class RequestIdentity {
  private final RequestView request;
  private final ClientAddress address;
  private final SecretHash secrets;
  private @Nullable Client client;

  public RequestIdentity(RequestView request, ClientAddress address, SecretHash secrets) {
    this.request = request;
    this.address = address;
    this.secrets = secrets;
  }

  public RequestView request() {
    return request;
  }

  /** Returns the client. */
  public Client client() {
    Client found = client;
    if (found == null) {
      found = address.of(request);
      client = found;
    }
    return found;
  }

  /** Returns the client's key. In the usual case that is a text of the request itself. */
  String clientKey() {
    String known = client == null ? address.writtenKey(request) : null;
    return known == null ? client().key() : known;
  }

  SecretHash secrets() {
    return secrets;
  }
}
