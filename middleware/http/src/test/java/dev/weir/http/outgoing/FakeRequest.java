package dev.weir.http.outgoing;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request with an Authorization, or without one if that is null. */
record FakeRequest(
    String method, String host, int port, String path, @Nullable String authorization)
    implements OutgoingRequest {
  static FakeRequest to(String host) {
    return new FakeRequest("GET", host, 443, "/", null);
  }

  @Override
  public List<String> headers(String name) {
    return authorization != null && name.equalsIgnoreCase("authorization")
        ? List.of(authorization)
        : List.of();
  }
}
