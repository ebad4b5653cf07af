package dev.weir.spring.web;

import dev.weir.http.RequestLimiter;
import dev.weir.identity.Source;
import java.util.Locale;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.web.server.WebServerFactory;
import org.springframework.core.env.Environment;

/** The check that refuses to start if a client could choose the address that it is counted by. */
final class AddressTrust {
  /*
   * With server.forward-headers-strategy a server or a filter of Spring replaces the address of the
   * connection by one from a header. Only Tomcat's valve walks that header from the right, past
   * trusted proxies alone; all others take the leftmost address, which the client itself may have
   * written. The table shows where the connection's own address can still be found:
   *
   *              native                      framework
   *   Tomcat     its valve is trusted        unwrapped, or by the native request
   *   Netty      connectionRemoteAddress     by the native request
   *   Jetty      lost                        unwrapped; lost in WebFlux
   *   Undertow   lost                        unwrapped; lost in WebFlux
   *
   * On a cloud platform, such as Kubernetes, Boot's default is native.
   */

  private static final String STRATEGY = "server.forward-headers-strategy";
  private static final String NATIVE = "native";

  private final Environment environment;
  private final ObjectProvider<WebServerFactory> servers;

  AddressTrust(Environment environment, ObjectProvider<WebServerFactory> servers) {
    this.environment = environment;
    this.servers = servers;
  }

  /**
   * Checks a limiter in an application of Spring MVC, or of any other kind in a servlet container.
   *
   * @throws UnsafeAddressException if its addresses could be forged
   */
  void checkServlet(RequestLimiter limiter) {
    if (limiter.uses(Source.IP) && strategy().equals(NATIVE)) {
      refuseUnless("Tomcat", "Tomcat");
    }
  }

  /**
   * Checks a limiter in an application of Spring WebFlux.
   *
   * @param transformed true if there is a ForwardedHeaderTransformer
   * @throws UnsafeAddressException if its addresses could be forged
   */
  void checkReactive(RequestLimiter limiter, boolean transformed) {
    if (limiter.uses(Source.IP) && (transformed || strategy().equals(NATIVE))) {
      refuseUnless("Tomcat", "Netty");
    }
  }

  private String strategy() {
    String strategy =
        Binder.get(environment).bind(STRATEGY, String.class).orElse("").toLowerCase(Locale.ROOT);
    if (!strategy.isEmpty()) {
      return strategy;
    }
    CloudPlatform platform = CloudPlatform.getActive(environment);
    return platform != null && platform.isUsingForwardHeaders() ? NATIVE : "none";
  }

  /**
   * Refuses to start unless the server is a safe one. Without a factory the application is in a
   * container that these settings do not reach.
   */
  private void refuseUnless(String safe, String alsoSafe) {
    for (WebServerFactory factory : servers) {
      String server = nameOf(factory);
      if (!server.contains(safe) && !server.contains(alsoSafe)) {
        throw new UnsafeAddressException(STRATEGY + ": \"" + strategy() + "\", with " + server);
      }
    }
  }

  /** Returns the name of Boot's class that this factory extends. */
  private static String nameOf(WebServerFactory factory) {
    Class<?> type = factory.getClass();
    while (type != Object.class && !type.getName().startsWith("org.springframework.boot.")) {
      type = type.getSuperclass();
    }
    return (type == Object.class ? factory.getClass() : type).getSimpleName();
  }
}
