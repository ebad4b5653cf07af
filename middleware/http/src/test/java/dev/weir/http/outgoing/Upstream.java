package dev.weir.http.outgoing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/**
 * A service on the loopback interface with the answers of a test, otherwise with 200. Safe for use
 * by many threads.
 */
public final class Upstream implements AutoCloseable {
  private record Response(int status, Map<String, String> fields) {}

  /** The body of a refusal: a response whose body is not read must be closed. */
  private static final byte[] BODY = {'n', 'o'};

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Queue<Response> responses = new ConcurrentLinkedQueue<>();

  private final List<String> bodies = new CopyOnWriteArrayList<>();

  /** The permits of the answers to {@code /open} to end; until then their bodies are open. */
  public final Semaphore ends = new Semaphore(0);

  /** Starts the service. */
  public Upstream() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
      if (exchange.getRequestURI().getPath().equals("/open")) {
        exchange.sendResponseHeaders(200, 0);
        exchange.getResponseBody().write('x');
        exchange.getResponseBody().flush();
        ends.acquireUninterruptibly();
        return;
      }
      Response response = responses.poll();
      if (response == null) {
        response = new Response(200, Map.of());
      }
      response.fields.forEach(exchange.getResponseHeaders()::set);
      if (response.status == 429) {
        exchange.sendResponseHeaders(429, BODY.length);
        exchange.getResponseBody().write(BODY);
      } else {
        exchange.sendResponseHeaders(response.status, -1);
      }
    }
  }

  /** Adds the answer to the next request that has none yet; fields and values alternate. */
  public Upstream next(int status, String... fields) {
    Map<String, String> map = new TreeMap<>();
    for (int i = 0; i < fields.length; i += 2) {
      map.put(fields[i], fields[i + 1]);
    }
    responses.add(new Response(status, map));
    return this;
  }

  /** Returns the bodies of all requests received. */
  public List<String> bodies() {
    return List.copyOf(bodies);
  }

  /** Returns the number of requests received. */
  public int requests() {
    return bodies.size();
  }

  /** Returns the URL of the service under a name of this host. */
  public String url(String host) {
    return "http://" + host + ":" + server.getAddress().getPort() + "/";
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
