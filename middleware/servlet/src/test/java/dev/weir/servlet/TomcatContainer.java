package dev.weir.servlet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BiConsumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.ErrorPage;

/** Tomcat. */
final class TomcatContainer implements Container {
  private static final Logger LOG = Logger.getLogger("org.apache");

  private final Tomcat tomcat;

  private TomcatContainer(Tomcat tomcat) {
    this.tomcat = tomcat;
  }

  static TomcatContainer start(Site site) {
    return start(site, (connector, context) -> {});
  }

  static TomcatContainer start(Site site, BiConsumer<Connector, Context> settings) {
    LOG.setLevel(Level.OFF); // Its log has every exception that a test throws.
    Tomcat tomcat = new Tomcat();
    try {
      Path folder = Files.createDirectories(Path.of("target", "tomcat")).toAbsolutePath();
      tomcat.setBaseDir(folder.toString());
      Connector connector = new Connector();
      connector.setPort(0);
      connector.setProperty("address", "127.0.0.1");
      connector.setProperty("maxThreads", Integer.toString(site.threads()));
      connector.setProperty("minSpareThreads", "2");
      connector.setProperty("acceptCount", "1000");
      tomcat.setConnector(connector);
      Context context = tomcat.addContext("", folder.toString());
      context.addServletContainerInitializer((classes, servlets) -> site.register(servlets), null);
      for (int status : Site.ERRORS) {
        ErrorPage page = new ErrorPage();
        page.setErrorCode(status);
        page.setLocation(Site.ERROR_PAGE);
        context.addErrorPage(page);
      }
      settings.accept(connector, context);
      tomcat.start();
      return new TomcatContainer(tomcat);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (LifecycleException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public int port() {
    return tomcat.getConnector().getLocalPort();
  }

  @Override
  public void close() {
    try {
      tomcat.stop();
      tomcat.destroy();
    } catch (LifecycleException e) {
      throw new IllegalStateException(e);
    }
  }
}
