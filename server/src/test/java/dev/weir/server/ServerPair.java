package dev.weir.server;

import dev.weir.wire.testkit.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests of two servers that share a real Redis and the key of holds and seats. */
abstract class ServerPair {
  private final String rules;

  @TempDir Path folder;
  RedisServer redis;
  RunningServer one;
  RunningServer two;

  ServerPair(String rules) {
    this.rules = rules;
  }

  @BeforeEach
  void start() throws Exception {
    redis = RedisServer.start();
    one = server();
    two = server();
  }

  RunningServer server() throws Exception {
    Path file = Files.writeString(folder.resolve("rules.yaml"), rules);
    Path key = Files.writeString(folder.resolve("key"), "0123456789abcdef0123456789abcdef\n");
    return RunningServer.start(
        Map.of("rules", file.toString()),
        "store",
        "redis://127.0.0.1:" + redis.port(),
        "store-timeout",
        "20s",
        "store-after-crash",
        "amnesty",
        "request-timeout",
        "1m",
        "hold-key-file",
        key.toString());
  }

  @AfterEach
  void stop() {
    one.close();
    two.close();
    redis.close();
  }
}
