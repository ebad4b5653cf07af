package dev.weir.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import org.eclipse.jetty.server.Server;
import org.junit.jupiter.api.Test;

class JettyTest extends ServletContract {
  @Override
  Container start(Site site) {
    return JettyContainer.start(site);
  }

  @Test
  void container_isTheOneOfThisRun() {
    String expected = System.getProperty("weir.container.version", "12.0.");
    assertThat(Server.getVersion()).startsWith(expected);
  }
}
