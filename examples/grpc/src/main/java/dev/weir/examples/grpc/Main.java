package dev.weir.examples.grpc;

import dev.weir.Ticker;
import dev.weir.engine.RulesException;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** The program that runs the server until it is interrupted, or shows its effects on clients. */
final class Main {
  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);

  private Main() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    String mode = "";
    int port = 8091;
    Path rules = Path.of("weir.yaml");
    for (int i = 0; i < arguments.length; i++) {
      String next = i + 1 < arguments.length ? arguments[i + 1] : "";
      switch (arguments[i]) {
        case "server", "client" -> mode = arguments[i];
        case "--port" -> {
          port = port(next);
          i++;
        }
        case "--rules" -> {
          rules = Path.of(next);
          i++;
        }
        default -> fail(arguments[i] + ": unknown (expected: server, client, --port PORT)");
      }
    }
    switch (mode) {
      case "server" -> serve(port, rules);
      case "client" -> show(port);
      default -> fail("nothing to do (expected: server or client)");
    }
  }

  private static void serve(int port, Path rules) throws InterruptedException {
    try {
      GreeterServer server = GreeterServer.start(port, rules);
      Runtime.getRuntime().addShutdownHook(new Thread(server::close, "close"));
      System.out.println(
          "Greeting on 127.0.0.1:" + server.port() + ". Try ./examples/grpc/run client in another");
      System.out.println("terminal, with --port if this one has it; Ctrl-C ends the server.");
      server.join();
    } catch (RulesException | IOException e) {
      fail(String.valueOf(e.getMessage()));
    }
  }

  private static void show(int port) {
    System.out.println("A plain client: the fourth call at once is refused.");
    try (GreeterClient plain = GreeterClient.plain(port)) {
      greet(plain, 5);
    }
    System.out.println("With RateLimitClientInterceptor: after a refusal, calls wait unsent.");
    try (GreeterClient patient = GreeterClient.patient(port)) {
      greet(patient, 3);
    }
    System.out.println("With gRPC's own retries: a refused call is sent again, when it may be.");
    try (GreeterClient retrying = GreeterClient.retrying(port)) {
      greet(retrying, 2);
    }
  }

  private static void greet(GreeterClient client, int calls) {
    for (int i = 1; i <= calls; i++) {
      long begun = Ticker.system().nanos();
      String outcome = outcome(client);
      long millis = TimeUnit.NANOSECONDS.toMillis(Ticker.system().nanos() - begun);
      System.out.printf(Locale.ROOT, "  %d. after %,5d ms: %s%n", i, millis, outcome);
    }
  }

  private static String outcome(GreeterClient client) {
    try {
      return client.greet("world");
    } catch (StatusRuntimeException e) {
      Metadata trailers = e.getTrailers();
      String pushback = trailers == null ? null : trailers.get(PUSHBACK);
      return e.getMessage() + (pushback == null ? "" : "; may come again in " + pushback + " ms");
    }
  }

  private static int port(String text) {
    int port = text.matches("\\d{1,5}") ? Integer.parseInt(text) : -1;
    if (port < 0 || port > 65_535) {
      fail("--port: " + text + " (expected: 0 to 65535)");
    }
    return port;
  }

  private static void fail(String message) {
    System.err.println("grpc: " + message);
    System.exit(2);
  }
}
