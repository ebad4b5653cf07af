package dev.weir.examples.jetty;

import dev.weir.engine.RulesException;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The program that starts the shop, prints commands to try, and ends the shop when it is
 * interrupted.
 */
final class Main {
  private Main() {}

  public static void main(String[] arguments) throws Exception {
    int port = 8090;
    Path rules = Path.of("weir.yaml");
    for (int i = 0; i < arguments.length; i += 2) {
      String value = i + 1 < arguments.length ? arguments[i + 1] : "";
      switch (arguments[i]) {
        case "--port" -> port = port(value);
        case "--rules" -> rules = Path.of(value);
        default -> fail(arguments[i] + ": unknown (expected: --port PORT, --rules FILE)");
      }
    }
    try {
      Shop shop = Shop.start(port, rules);
      Runtime.getRuntime().addShutdownHook(new Thread(() -> close(shop), "close"));
      System.out.print(invitation("http://127.0.0.1:" + shop.port()));
      shop.join();
    } catch (RulesException | IOException e) {
      fail(String.valueOf(e.getMessage()));
    }
  }

  private static int port(String text) {
    int port = text.matches("\\d{1,5}") ? Integer.parseInt(text) : -1;
    if (port < 0 || port > 65_535) {
      fail("--port: " + text + " (expected: 0 to 65535)");
    }
    return port;
  }

  private static String invitation(String url) {
    return """
        The shop is open. Try these in another terminal; Ctrl-C ends it.

          curl -i %1$s/hello            # the sixth in a minute is refused
          for i in 1 2 3; do curl -s -w '%%{time_total} s\\n' %1$s/report & done; wait
                                                             # one a second: the others wait for their turn
        """
        .formatted(url);
  }

  private static void close(Shop shop) {
    try {
      shop.close();
    } catch (Exception e) {
      System.err.println("jetty: " + e);
    }
  }

  private static void fail(String message) {
    System.err.println("jetty: " + message);
    System.exit(2);
  }
}
