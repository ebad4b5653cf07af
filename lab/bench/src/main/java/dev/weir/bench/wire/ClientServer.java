package dev.weir.bench.wire;

import dev.weir.server.ServerOptions;
import dev.weir.server.WeirServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** A server in this process, with the rules for the measurements of clients. */
public final class ClientServer implements AutoCloseable {
  public static final String DOMAIN = "bench";

  /** The permits of the limit that four clients approach. */
  static final long NEAR_LIMIT = 1_000;

  static final long NEAR_WINDOW_SECONDS = 2;

  private static final String RULES =
      """
      domain: bench
      descriptors:
        - key: endless
          rate_limit:
            {unit: day, requests_per_unit: 4000000000, algorithm: token-bucket,
             consistency: leased, sync_interval: 1m}
        - key: second
          rate_limit:
            {unit: second, requests_per_unit: 1000000, algorithm: token-bucket,
             consistency: leased}
        - key: minute
          rate_limit:
            {unit: minute, requests_per_unit: 60000000, algorithm: token-bucket,
             consistency: leased}
        - key: strict
          rate_limit: {unit: second, requests_per_unit: 1000000, algorithm: token-bucket}
        - key: none
          rate_limit: {unit: day, requests_per_unit: 0}
        - key: few
          rate_limit: {unit: second, requests_per_unit: 5, algorithm: token-bucket, burst: 1}
        - key: near
          rate_limit:
            {window: %ds, requests_per_unit: %d, algorithm: sliding-window-log,
             consistency: leased}
      """
          .formatted(NEAR_WINDOW_SECONDS, NEAR_LIMIT);

  private final WeirServer server;

  private ClientServer(WeirServer server) {
    this.server = server;
  }

  public static ClientServer start() throws Exception {
    Path rules = Files.createTempFile("weir-bench", ".yaml");
    return new ClientServer(
        WeirServer.start(
            ServerOptions.of(
                Map.of(
                    "rules",
                    Files.writeString(rules, RULES).toString(),
                    "port",
                    "0",
                    "grpc-port",
                    "0",
                    "resp-port",
                    "off",
                    "drain-delay",
                    "0s",
                    "log-level",
                    "warning"))));
  }

  public String target() {
    return "127.0.0.1:" + server.grpcPort();
  }

  @Override
  public void close() {
    server.close();
  }
}
