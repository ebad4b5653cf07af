package dev.weir.spring.gateway.test;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The target of the routes. It answers with 401 if the query is {@code wrong}, else with its path.
 * If the query is {@code open}, the answer has an end only once it is permitted.
 */
final class Backend implements AutoCloseable {
  final AtomicInteger calls = new AtomicInteger();
  final Semaphore ends = new Semaphore(0);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpServer server;

  Backend() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext(
        "/",
        exchange -> {
          calls.incrementAndGet();
          if ("open".equals(exchange.getRequestURI().getQuery())) {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write('x');
            exchange.getResponseBody().flush();
            ends.acquireUninterruptibly();
            exchange.close();
            return;
          }
          byte[] body = exchange.getRequestURI().getPath().getBytes(UTF_8);
          boolean wrong = "wrong".equals(exchange.getRequestURI().getQuery());
          boolean head = exchange.getRequestMethod().equals("HEAD");
          exchange.sendResponseHeaders(wrong ? 401 : 200, head ? -1 : body.length);
          if (!head) {
            exchange.getResponseBody().write(body);
          }
          exchange.close();
        });
    server.setExecutor(threads);
    server.start();
  }

  String uri() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
