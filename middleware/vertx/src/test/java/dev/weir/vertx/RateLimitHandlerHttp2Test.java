package dev.weir.vertx;

import java.net.http.HttpClient;

/** The same tests over HTTP/2. */
class RateLimitHandlerHttp2Test extends RateLimitHandlerTest {
  @Override
  protected HttpClient.Version version() {
    return HttpClient.Version.HTTP_2;
  }
}
