package dev.weir.armeria;

import java.net.http.HttpClient;

/** The same tests over HTTP/2. */
class RateLimitServiceHttp2Test extends RateLimitServiceTest {
  @Override
  protected HttpClient.Version version() {
    return HttpClient.Version.HTTP_2;
  }
}
