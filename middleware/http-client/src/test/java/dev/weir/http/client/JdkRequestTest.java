package dev.weir.http.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JdkRequestTest {
  @ParameterizedTest
  @CsvSource({
    "http://a.test, a.test, 80, /",
    "HTTPS://A.Test/x%20y?q=%2F, a.test, 443, /x y",
    "http://[2001:DB8::1]:8080/, 2001:db8::1, 8080, /",
  })
  void uri_isTakenApart(String uri, String host, int port, String path) {
    JdkRequest request =
        new JdkRequest(
            HttpRequest.newBuilder(URI.create(uri)).header("X-A", "1").header("X-A", "2").build());
    assertThat(request.host()).isEqualTo(host);
    assertThat(request.port()).isEqualTo(port);
    assertThat(request.path()).isEqualTo(path);
    assertThat(request.method()).isEqualTo("GET");
    assertThat(request.headers("x-a")).containsExactly("1", "2");
    assertThat(request.headers("x-b")).isEmpty();
    assertThat(request.query("q")).isEqualTo(uri.contains("?") ? "/" : null);
    assertThat(request.peer()).isNull();
  }
}
