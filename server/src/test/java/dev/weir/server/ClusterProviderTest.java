package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.server.settings.StartException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of the server without {@code weir-server-cluster}, which is not on the class path of its
 * tests.
 */
class ClusterProviderTest {
  private static final String MISSING =
      "weir-server-cluster: not on the class path (expected: this jar, and the jars that it"
          + " needs)";

  @TempDir private Path folder;

  @Test
  void member_doesNotStart() {
    String dir = folder.resolve("a").toString();
    assertThatThrownBy(
            () -> RunningServer.start(folder, "cluster", "a=127.0.0.1:7946", "cluster-dir", dir))
        .isInstanceOf(StartException.class)
        .hasMessage("--cluster: " + MISSING);
  }

  @Test
  void clientOfACluster_doesNotStart() {
    assertThatThrownBy(() -> RunningServer.start(folder, "store", "weir://127.0.0.1:7946"))
        .isInstanceOf(StartException.class)
        .hasMessage("--store: " + MISSING);
  }
}
