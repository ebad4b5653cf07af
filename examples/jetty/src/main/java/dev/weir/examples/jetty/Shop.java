package dev.weir.examples.jetty;

import dev.weir.engine.RunningEngine;
import dev.weir.http.RequestLimiter;
import dev.weir.servlet.RateLimitFilter;
import dev.weir.servlet.WaitingFilter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.EnumSet;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** A shop with a greeting, a slow report, and a health check. */
final class Shop {
  private final RunningEngine engine;
  private final Server server;

  private Shop(RunningEngine engine, Server server) {
    this.engine = engine;
    this.server = server;
  }

  /**
   * Starts the shop on this machine's own address.
   *
   * @param port 0 for any free port
   * @param rules the file with the limits
   */
  static Shop start(int port, Path rules) throws Exception {
    // Reads the rules, watches their file, and counts in this process.
    RunningEngine engine = RunningEngine.builder().rules(rules).start();
    // The descriptor of a request: its path and its client's address. The rules decide what it
    // means.
    RequestLimiter limiter =
        RequestLimiter.builder(engine)
            .domain("shop")
            .descriptor("path={path},ip={ip}")
            .exempt("/health")
            .build();

    // The first filter refuses; the last one holds the requests that may wait for their turn.
    ServletContextHandler context = new ServletContextHandler("/");
    WaitingFilter waiting = new WaitingFilter();
    add(context, RateLimitFilter.builder(limiter).waiting(waiting).build());
    add(context, waiting);

    context.addServlet(new ServletHolder(new TextServlet("Hello")), "/hello");
    context.addServlet(new ServletHolder(new TextServlet("Sales: 42")), "/report");
    context.addServlet(new ServletHolder(new TextServlet("Well")), "/health");

    Server server = new Server(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    server.setHandler(context);
    Shop shop = new Shop(engine, server);
    try {
      server.start();
      return shop;
    } catch (Exception e) {
      shop.close();
      throw e;
    }
  }

  private static void add(ServletContextHandler context, Filter filter) {
    FilterHolder holder = new FilterHolder(filter);
    // With this, a request that waits takes no thread.
    holder.setAsyncSupported(true);
    context.addFilter(holder, "/*", EnumSet.of(DispatcherType.REQUEST));
  }

  int port() {
    return ((ServerConnector) server.getConnectors()[0]).getLocalPort();
  }

  /** Waits until the shop is closed. */
  void join() throws InterruptedException {
    server.join();
  }

  /** Ends the server, then the engine that its filters use. */
  void close() throws Exception {
    try {
      server.stop();
    } finally {
      engine.close();
    }
  }
}
