package dev.weir.vertx;

import java.net.http.HttpClient;
import org.junit.jupiter.api.Tag;

/** The same tests over HTTP/2. */
@Tag("matrix")
class RateLimitHandlerHttp2Test extends RateLimitHandlerTest {
  @Override
  protected HttpClient.Version version() {
    return HttpClient.Version.HTTP_2;
  }
}
