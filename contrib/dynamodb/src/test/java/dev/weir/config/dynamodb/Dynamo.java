package dev.weir.config.dynamodb;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A service with DynamoDB's protocol for tests, at the address that {@code -Dweir.dynamodb} names,
 * with a table for each store. {@code .ci/smoke-dynamodb} starts one and runs the tests.
 */
final class Dynamo {
  private static final AtomicInteger TABLES = new AtomicInteger();

  private Dynamo() {}

  static String endpoint() {
    String endpoint = System.getProperty("weir.dynamodb", "");
    if (endpoint.isEmpty()) {
      throw new IllegalStateException(
          "weir.dynamodb: not set (expected: http://HOST:PORT, as .ci/smoke-dynamodb has it)");
    }
    credentials();
    return endpoint;
  }

  /** Sets credentials for the client, which makes no call without any. */
  static void credentials() {
    System.setProperty("aws.accessKeyId", "test");
    System.setProperty("aws.secretAccessKey", "test");
  }

  /**
   * Returns the address of the only store of a test, with a timeout that is long enough for a busy
   * machine. Stores before it are gone: moto copies all tables at each transaction.
   */
  static String newAddress() {
    String endpoint = endpoint();
    try {
      HttpResponse<Void> unused =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(URI.create(endpoint + "/moto-api/reset"))
                      .POST(HttpRequest.BodyPublishers.noBody())
                      .build(),
                  HttpResponse.BodyHandlers.discarding());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return "dynamodb:weir-%d?region=eu-central-1&endpoint=%s&timeout=60s"
        .formatted(TABLES.incrementAndGet(), endpoint);
  }
}
