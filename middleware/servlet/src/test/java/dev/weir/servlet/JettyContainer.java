package dev.weir.servlet;

import org.eclipse.jetty.ee10.servlet.ErrorPageErrorHandler;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Jetty with its Jakarta EE 10 servlets. */
final class JettyContainer implements Container {
  /** The threads that Jetty itself uses: one accepts, one selects. */
  private static final int OWN_THREADS = 2;

  private final Server server;
  private final ServerConnector connector;

  private JettyContainer(Server server, ServerConnector connector) {
    this.server = server;
    this.connector = connector;
  }

  static JettyContainer start(Site site) {
    int threads = site.threads() + OWN_THREADS;
    QueuedThreadPool pool = new QueuedThreadPool(threads, threads);
    pool.setReservedThreads(0);
    Server server = new Server(pool);
    ServerConnector connector = new ServerConnector(server, 1, 1);
    connector.setHost("127.0.0.1");
    connector.setPort(0);
    connector.setAcceptQueueSize(1_000);
    server.addConnector(connector);
    ServletContextHandler context = new ServletContextHandler("/");
    context.addServletContainerInitializer((classes, servlets) -> site.register(servlets));
    ErrorPageErrorHandler errors = new ErrorPageErrorHandler();
    for (int status : Site.ERRORS) {
      errors.addErrorPage(status, Site.ERROR_PAGE);
    }
    context.setErrorHandler(errors);
    server.setHandler(context);
    try {
      server.start();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return new JettyContainer(server, connector);
  }

  @Override
  public int port() {
    return connector.getLocalPort();
  }

  @Override
  public void close() {
    try {
      server.stop();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
