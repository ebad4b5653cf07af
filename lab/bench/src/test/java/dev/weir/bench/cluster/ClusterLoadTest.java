package dev.weir.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.load.LoadResult;
import dev.weir.server.ServerOptions;
import dev.weir.server.WeirServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of the loads on a cluster, put on one server without a cluster. */
class ClusterLoadTest {
  @TempDir private static Path folder;
  private static WeirServer server;

  @BeforeAll
  static void start() throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), ClusterFigures.RULES);
    server =
        WeirServer.start(
            ServerOptions.of(
                Map.of(
                    "rules",
                    rules.toString(),
                    "port",
                    "0",
                    "grpc-port",
                    "0",
                    "resp-port",
                    "0",
                    "no-warmup",
                    "true",
                    "drain-delay",
                    "0s")));
  }

  @AfterAll
  static void close() {
    server.close();
  }

  private static List<Integer> ports() {
    return List.of(server.respPort(), server.respPort());
  }

  @Test
  void open_everyRequestThatIsSentIsDecided() throws Exception {
    for (ClusterLoad load : List.of(ClusterLoad.STRICT, ClusterLoad.byRule("leased"))) {
      LoadResult got = load.open(ports(), 2_000, 0.1, 0.5);
      assertThat(got.due()).isEqualTo(1_000);
      assertThat(got.counts().failed()).as(ClusterFigures.errors(got)).isZero();
      // A machine that stands still at the end leaves some unsent.
      assertThat(got.counts().allowed()).isEqualTo(1_000 - got.unfinished()).isPositive();
      assertThat(got.latency().getTotalCount()).isEqualTo(got.counts().allowed());
      assertThat(got.longestGapNanos()).isPositive();
    }
  }

  @Test
  void eachKey_isAdmittedEveryTime() throws Exception {
    LoadResult got = ClusterLoad.EACH_KEY.open(ports(), 5_000, 0, 0.5);
    assertThat(got.due()).isEqualTo(2_500);
    assertThat(got.counts().allowed()).isEqualTo(2_500 - got.unfinished()).isPositive();
  }

  @Test
  void flatOut_requestsFollowAnswers() throws Exception {
    LoadResult got = ClusterLoad.byRule("approximate").flatOut(ports(), 80, 0.3);
    assertThat(got.counts().allowed()).isGreaterThanOrEqualTo(80);
    assertThat(got.undecided()).as(ClusterFigures.errors(got)).isZero();
  }
}
