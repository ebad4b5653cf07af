package dev.weir.http;

import dev.weir.identity.RequestView;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request without a server. */
record PlainRequest(@Nullable String peer, String method, String path, String accept)
    implements RequestView {
  @Override
  public List<String> headers(String name) {
    return name.equalsIgnoreCase("Accept") ? List.of(accept) : List.of();
  }
}
