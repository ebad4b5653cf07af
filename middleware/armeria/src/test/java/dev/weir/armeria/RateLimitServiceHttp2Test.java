package dev.weir.armeria;

import java.net.http.HttpClient;
import org.junit.jupiter.api.Tag;

/** The same tests over HTTP/2. */
@Tag("matrix")
class RateLimitServiceHttp2Test extends RateLimitServiceTest {
  @Override
  protected HttpClient.Version version() {
    return HttpClient.Version.HTTP_2;
  }
}
