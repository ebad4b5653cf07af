package dev.weir.config.dynamodb;

import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import dev.weir.testkit.Ports;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Amazon's DynamoDB for tests, in this process, started once, with a table for each store. */
final class Dynamo {
  private static final AtomicInteger TABLES = new AtomicInteger();
  private static @Nullable String started;

  private Dynamo() {}

  static synchronized String endpoint() {
    String running = started;
    if (running == null) {
      try {
        int port = Ports.free();
        System.setProperty("aws.accessKeyId", "test");
        System.setProperty("aws.secretAccessKey", "test");
        DynamoDBProxyServer server =
            ServerRunner.createServerFromCommandLineArgs(
                new String[] {"-inMemory", "-sharedDb", "-disableTelemetry", "-port", "" + port});
        server.start();
        running = "http://127.0.0.1:" + port;
        started = running;
      } catch (Exception e) {
        throw new IllegalStateException("DynamoDB for tests does not start", e);
      }
    }
    return running;
  }

  /** Returns the address of a new store, with a timeout that is long enough for a busy machine. */
  static String newAddress() {
    String endpoint = endpoint();
    return "dynamodb:weir-%d?region=eu-central-1&endpoint=%s&timeout=60s"
        .formatted(TABLES.incrementAndGet(), endpoint);
  }
}
