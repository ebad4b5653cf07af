package dev.weir.server.internal.http;

import io.opentelemetry.context.propagation.TextMapGetter;
import io.vertx.core.http.HttpServerRequest;
import org.jspecify.annotations.Nullable;

/** The reader of the header fields of a request that continue its caller's trace. */
final class TraceFields implements TextMapGetter<HttpServerRequest> {
  static final TraceFields OF_REQUESTS = new TraceFields();

  private TraceFields() {}

  @Override
  public Iterable<String> keys(HttpServerRequest request) {
    return request.headers().names();
  }

  @Override
  public @Nullable String get(@Nullable HttpServerRequest request, String name) {
    return request == null ? null : request.getHeader(name);
  }
}
