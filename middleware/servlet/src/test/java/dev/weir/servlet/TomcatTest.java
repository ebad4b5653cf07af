package dev.weir.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.identity.ClientAddress;
import org.apache.catalina.filters.RemoteIpFilter;
import org.apache.catalina.util.ServerInfo;
import org.apache.catalina.valves.RemoteIpValve;
import org.junit.jupiter.api.Test;

class TomcatTest extends ServletContract {
  private static final String FORWARDED = "X-Forwarded-For: 6.6.6.6, 203.0.113.7";

  @Override
  Container start(Site site) {
    return TomcatContainer.start(site);
  }

  /**
   * Returns a filter by address. Without the address that Tomcat has found it would walk on past
   * 203.0.113.7.
   */
  private RateLimitFilter byAddress() {
    ClientAddress address =
        ClientAddress.builder()
            .trusted("127.0.0.0/8", "203.0.113.0/24")
            .header("X-Forwarded-For")
            .build();
    return RateLimitFilter.of(limits.limiter("ip={ip}").address(address).build());
  }

  @Test
  void remoteIpValve_hasTheLastWord() {
    long before = limits.used("ip", "203.0.113.7");
    try (Container other =
        TomcatContainer.start(
            new Site(new App()).filter(byAddress()),
            (connector, context) -> context.getPipeline().addValve(new RemoteIpValve()))) {
      assertThat(Raw.send(other.port(), "GET /app/ok", FORWARDED).status()).isEqualTo(200);
    }
    assertThat(limits.used("ip", "203.0.113.7")).isEqualTo(before + 1);
    assertThat(limits.used("ip", "6.6.6.6")).isZero();
  }

  @Test
  void remoteIpFilter_hasTheLastWord() {
    long before = limits.used("ip", "203.0.113.7");
    try (Container other =
        TomcatContainer.start(
            new Site(new App()).filter(new RemoteIpFilter()).filter(byAddress()))) {
      assertThat(Raw.send(other.port(), "GET /app/ok", FORWARDED).status()).isEqualTo(200);
    }
    assertThat(limits.used("ip", "203.0.113.7")).isEqualTo(before + 1);
    assertThat(limits.used("ip", "6.6.6.6")).isZero();
  }

  @Test
  void container_isTheOneOfThisRun() {
    String expected = System.getProperty("weir.container.version", "10.");
    assertThat(ServerInfo.getServerNumber()).startsWith(expected);
  }
}
