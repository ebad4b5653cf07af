package dev.weir.spring.gateway.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;

/** Tests of a gateway behind a proxy of its own. */
class TrustedProxyTest {
  @Test
  void trustedProxy_saysWhoTheClientIs() {
    try (Backend backend = new Backend();
        Gateway gateway =
            new Gateway(
                backend,
                "weir.client-address.trusted-proxies=127.0.0.0/8",
                "weir.client-address.header=X-Forwarded-For",
                "weir.respond=exception",
                "weir.filters[0].paths=/open/**",
                "weir.filters[0].descriptors[0]=ip={ip}")) {
      for (String path : new String[] {"/spoofed", "/own/spoofed"}) {
        for (int i = 0; i < 2; i++) {
          assertThat(status(gateway, path, "6.6.6." + i + ", 203.0.113.7")).isEqualTo(200);
        }
        assertThat(status(gateway, path, "6.6.6.9, 203.0.113.7")).as(path).isEqualTo(429);
        assertThat(status(gateway, path, "6.6.6.9, 203.0.113.8")).as(path).isEqualTo(200);
      }
      HttpResponse<String> refused =
          gateway.get("/spoofed", "X-Forwarded-For", "6.6.6.9, 203.0.113.7");
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(refused.body()).as("of an exception").contains("quota-exceeded");
      HttpResponse<String> open = gateway.get("/open", "X-Forwarded-For", "203.0.113.9");
      assertThat(open.headers().allValues("RateLimit")).as("by a filter").hasSize(1);
    }
  }

  private static int status(Gateway gateway, String path, String forwardedFor) {
    return gateway.status(path, "X-Forwarded-For", forwardedFor);
  }
}
