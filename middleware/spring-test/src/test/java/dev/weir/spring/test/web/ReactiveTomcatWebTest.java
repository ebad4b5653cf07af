package dev.weir.spring.test.web;

import org.junit.jupiter.api.Tag;

/** Tests of filters in an application of Spring WebFlux, on Tomcat. */
@Tag("matrix")
class ReactiveTomcatWebTest extends ReactiveWebTest {
  @Override
  ClassLoader classLoader() {
    return Site.TOMCAT;
  }

  @Override
  String serverFactory() {
    return "tomcatReactiveWebServerFactory";
  }

  /**
   * Returns all but native: Tomcat trusts proxies in private networks, such as this test's own
   * address.
   */
  @Override
  String[] strategies() {
    return new String[] {"none", "framework"};
  }
}
