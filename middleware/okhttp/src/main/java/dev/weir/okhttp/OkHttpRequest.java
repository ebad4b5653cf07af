package dev.weir.okhttp;

import dev.weir.http.outgoing.OutgoingRequest;
import java.util.List;
import okhttp3.Request;
import org.jspecify.annotations.Nullable;

/** A request of OkHttp. */
record OkHttpRequest(Request request) implements OutgoingRequest {
  @Override
  public String method() {
    return request.method();
  }

  @Override
  public String host() {
    return request.url().host();
  }

  @Override
  public int port() {
    return request.url().port();
  }

  @Override
  public String path() {
    return "/" + String.join("/", request.url().pathSegments());
  }

  @Override
  public @Nullable String queryText() {
    return request.url().encodedQuery();
  }

  @Override
  public List<String> headers(String name) {
    return request.headers(name);
  }
}
