package dev.weir.servlet;

import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentInfo;
import io.undertow.servlet.api.DeploymentManager;
import io.undertow.servlet.api.ServletContainerInitializerInfo;
import io.undertow.servlet.util.ImmediateInstanceFactory;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletException;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Undertow. */
final class UndertowContainer implements Container {
  private static final Logger LOG = Logger.getLogger("io.undertow");

  private final Undertow undertow;
  private final DeploymentManager deployment;

  private UndertowContainer(Undertow undertow, DeploymentManager deployment) {
    this.undertow = undertow;
    this.deployment = deployment;
  }

  static UndertowContainer start(Site site) {
    LOG.setLevel(Level.OFF); // Its log has every exception that a test throws.
    ServletContainerInitializer start = (classes, servlets) -> site.register(servlets);
    DeploymentInfo info =
        Servlets.deployment()
            .setClassLoader(UndertowContainer.class.getClassLoader())
            .setContextPath("/")
            .setDeploymentName("site")
            .addServletContainerInitializer(
                new ServletContainerInitializerInfo(
                    start.getClass(), new ImmediateInstanceFactory<>(start), Set.of()));
    for (int status : Site.ERRORS) {
      info.addErrorPage(Servlets.errorPage(Site.ERROR_PAGE, status));
    }
    DeploymentManager deployment = Servlets.newContainer().addDeployment(info);
    deployment.deploy();
    try {
      Undertow undertow =
          Undertow.builder()
              .setServerOption(UndertowOptions.MAX_ENTITY_SIZE, -1L) // Else 400 above 2 MiB.
              .setIoThreads(1)
              .setWorkerThreads(site.threads())
              .addHttpListener(0, "127.0.0.1", deployment.start())
              .build();
      undertow.start();
      return new UndertowContainer(undertow, deployment);
    } catch (ServletException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public int port() {
    return ((InetSocketAddress) undertow.getListenerInfo().get(0).getAddress()).getPort();
  }

  @Override
  public void close() {
    undertow.stop();
    try {
      deployment.stop();
    } catch (ServletException e) {
      throw new IllegalStateException(e);
    }
    deployment.undeploy();
  }
}
