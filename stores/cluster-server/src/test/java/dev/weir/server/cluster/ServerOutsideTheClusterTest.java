package dev.weir.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.server.RunningServer;
import dev.weir.testkit.Ports;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that is no member and sends its requests to a cluster. */
class ServerOutsideTheClusterTest {
  @TempDir private Path folder;

  @Test
  void limit_isOneForMembersAndServersThatAreNone() throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RunningServer.RULES);
    String member = "a=127.0.0.1:" + Ports.free();
    Map<String, String> all =
        Map.of("rules", rules.toString(), "store-timeout", "20s", "request-timeout", "1m");
    String dir = folder.resolve("a").toString();
    try (RunningServer a = RunningServer.start(all, "cluster", member, "cluster-dir", dir);
        RunningServer one = RunningServer.start(all, "store", "weir://" + member);
        RunningServer two = RunningServer.start(all, "store", "weir://" + member)) {
      int admitted = 0;
      for (int i = 0; i < 4; i++) {
        for (RunningServer each : List.of(one, a, two)) {
          admitted += each.check("user", "ann").statusCode() == 200 ? 1 : 0;
        }
      }
      assertThat(admitted).isEqualTo(3);
      assertThat(one.get("/readyz").statusCode()).isEqualTo(200);
      assertThat(one.get("/metrics").body()).contains("weir_store_available 1");
      assertThat(a.get("/cluster").body()).contains("\"health\":\"healthy\"");
    }
  }
}
