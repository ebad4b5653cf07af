package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.Trio.Node;
import dev.weir.cluster.internal.log.PeerRpc;
import dev.weir.cluster.internal.log.RatisSettings;
import dev.weir.cluster.internal.peer.Wires;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Members of real logs whose leader's process ends. The others do not wait for its election
 * timeout.
 */
@Tag("live")
class LeaderEndTest {
  private static final Duration ELECTION_MIN = Duration.ofSeconds(3);
  private static final Duration ELECTION_MAX = Duration.ofSeconds(4);

  @TempDir private Path folder;

  private static RatisSettings slow(RatisSettings settings) {
    return settings.withElection(ELECTION_MIN, ELECTION_MAX);
  }

  private static long stands(Trio trio) {
    return trio.log.stream().filter(line -> line.contains("stands for election")).count();
  }

  private static long term(Trio trio) throws Exception {
    return trio.node(trio.leader()).ledger().status().term();
  }

  @Test
  void endedLeader_isFollowedByOneWhoStandsAtOnce() throws Exception {
    Calm.check(folder, LeaderEndTest::endLeader);
  }

  private static void endLeader(Path folder) throws Exception {
    try (Trio trio = new Trio(folder, LeaderEndTest::slow, null)) {
      for (int i = 1; i <= 20; i++) {
        trio.append(i, 64);
      }
      long before = term(trio);
      int leader = trio.leader();
      for (Node each : trio.running()) {
        connected(trio, each);
      }

      trio.kill(leader);

      Await.until("one that stands", () -> stands(trio) > 0);
      trio.append(21, 64);
      assertThat(term(trio)).isEqualTo(before + 1);
      trio.start(leader);
      assertThat(trio.settle()).hasSizeGreaterThanOrEqualTo(22);
      assertThat(stands(trio)).isEqualTo(1);
    }
  }

  private static void connected(Trio trio, Node from) throws Exception {
    for (Node to : trio.running()) {
      if (!to.name().equals(from.name())) {
        Await.until(
            "connections for votes", () -> from.transport().connected(to.name(), PeerRpc.VOTES));
      }
    }
  }

  /** A network that cuts connections again and again is no reason for an election. */
  @Test
  void leaderThatLives_isNotReplaced_whenItsConnectionsAreCut() throws Exception {
    Calm.check(folder, LeaderEndTest::cutConnections);
  }

  private static void cutConnections(Path folder) throws Exception {
    Wires wires = new Wires();
    try (Trio trio = new Trio(folder, LeaderEndTest::slow, wires)) {
      trio.append(1, 64);
      long before = term(trio);
      int leader = trio.leader();
      for (int i = 2; i <= 6; i++) {
        for (Node each : trio.running()) {
          connected(trio, each);
        }
        for (int other = 0; other < 3; other++) {
          wires.wire(other, leader).cut();
          wires.wire(leader, other).cut();
        }
        trio.append(i, 64);
      }
      assertThat(trio.log).anyMatch(line -> line.contains("/votes: the connection was lost"));
      assertThat(stands(trio)).isZero();
      assertThat(term(trio)).isEqualTo(before);
    }
  }
}
