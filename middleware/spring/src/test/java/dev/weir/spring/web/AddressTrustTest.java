package dev.weir.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.http.RequestLimiter;
import dev.weir.testkit.FakeTicker;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.web.server.WebServerFactory;
import org.springframework.mock.env.MockEnvironment;

class AddressTrustTest {
  private static final class TomcatFactory implements WebServerFactory {}

  private static final class JettyFactory implements WebServerFactory {}

  private static final class NettyFactory implements WebServerFactory {}

  private static AddressTrust trust(WebServerFactory server, String property, String value) {
    StaticListableBeanFactory beans = new StaticListableBeanFactory();
    beans.addBean("server", server);
    return new AddressTrust(
        new MockEnvironment().withProperty(property, value),
        beans.getBeanProvider(WebServerFactory.class));
  }

  private static AddressTrust strategy(WebServerFactory server, String value) {
    return trust(server, "server.forward-headers-strategy", value);
  }

  private static RequestLimiter by(String descriptor) {
    Engine engine = Engine.create(new MemoryStore(), new FakeTicker(), EngineSettings.DEFAULTS);
    return RequestLimiter.builder(engine).descriptor(descriptor).build();
  }

  @Test
  void nativeOnJetty_isRefusedWithTheRemedy() {
    AddressTrust trust = strategy(new JettyFactory(), "NATIVE");
    assertThatExceptionOfType(UnsafeAddressException.class)
        .isThrownBy(() -> trust.checkServlet(by("ip={ip}")))
        .withMessageContaining("server.forward-headers-strategy: \"native\", with JettyFactory")
        .satisfies(
            refusal -> {
              FailureAnalysis analysis =
                  new UnsafeAddressAnalyzer().analyze(new IllegalStateException(refusal));
              assertThat(Objects.requireNonNull(analysis).getAction())
                  .contains("server.forward-headers-strategy=none", "trusted-proxies");
            });
  }

  @Test
  void nativeOnJettyWithoutAddress_isAccepted() {
    assertThatCode(() -> strategy(new JettyFactory(), "native").checkServlet(by("path={path}")))
        .doesNotThrowAnyException();
  }

  @Test
  void nothingSaidOnKubernetes_isNative() {
    AddressTrust trust = trust(new JettyFactory(), "spring.main.cloud-platform", "kubernetes");
    assertThatExceptionOfType(UnsafeAddressException.class)
        .isThrownBy(() -> trust.checkServlet(by("ip={ip}")));
  }

  @Test
  void safeServers_areAccepted() {
    assertThatCode(
            () -> {
              strategy(new TomcatFactory(), "native").checkServlet(by("ip={ip}"));
              strategy(new JettyFactory(), "framework").checkServlet(by("ip={ip}"));
              strategy(new NettyFactory(), "native").checkReactive(by("ip={ip}"), false);
              strategy(new NettyFactory(), "framework").checkReactive(by("ip={ip}"), true);
            })
        .doesNotThrowAnyException();
  }

  @Test
  void frameworkOnJettyInWebFlux_isRefused() {
    AddressTrust trust = strategy(new JettyFactory(), "framework");
    assertThatExceptionOfType(UnsafeAddressException.class)
        .isThrownBy(() -> trust.checkReactive(by("ip={ip}"), true));
  }
}
