package dev.weir.wire.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The servers that the tests of this module run against. */
class RedisServerTest {
  @Test
  void start_answers_andNothingIsLeftAfterClose() {
    RedisServer server = RedisServer.start();
    assertThat(server.command("SET", "k", "v")).isEqualTo("OK");
    assertThat(server.command("GET", "k")).isEqualTo("v");
    assertThat(server.command("CONFIG", "GET", "save")).isEqualTo("[save, ]");
    server.close();

    assertThat(server.running()).isFalse();
    assertThat(server.directory()).doesNotExist();
    assertThatThrownBy(() -> new RespClient(server.port())).isInstanceOf(IOException.class);
  }

  @Test
  void commandBefore_isReplacedByTheServer_andByItsReplicas() {
    try (RedisServer server = RedisServer.startWithin(List.of("env"));
        RedisServer replica = server.startReplica()) {
      for (RedisServer each : List.of(server, replica)) {
        assertThat(each.command("INFO", "server"))
            .contains("process_id:" + each.handle().pid() + "\r\n");
        assertThat(each.handle().info().command())
            .hasValueSatisfying(command -> assertThat(command).doesNotEndWith("env"));
      }
    }
  }

  /** A program that starts a server, prints its port, and leaves without closing it. */
  static final class Careless {
    public static void main(String[] none) {
      System.out.println(RedisServer.start().port());
    }
  }

  @Test
  void processThatEnds_takesItsServersAlong() throws Exception {
    String binary = System.getProperty(RedisServer.BINARY_PROPERTY, "");
    String printed =
        ChildProcess.java(Careless.class)
            .options("-D" + RedisServer.BINARY_PROPERTY + "=" + binary)
            .errors(Redirect.INHERIT)
            .run();
    int port = Integer.parseInt(printed.trim());
    assertThatThrownBy(() -> new RespClient(port)).isInstanceOf(ConnectException.class);
  }

  @Test
  void kill_losesMemory_butNotTheAppendOnlyFile() {
    try (RedisServer server = RedisServer.start("appendonly yes", "appendfsync always")) {
      server.command("SET", "k", "v");
      server.kill();
      assertThat(server.running()).isFalse();
      server.restart();
      assertThat(server.command("GET", "k")).isEqualTo("v");
      server.restartEmpty();
      assertThat(server.command("DBSIZE")).isEqualTo("0");
    }
    try (RedisServer server = RedisServer.start()) {
      server.command("SET", "k", "v");
      server.restart();
      assertThat(server.command("DBSIZE")).isEqualTo("0");
    }
  }

  @Test
  void pausedServer_answersOnceResumed() throws IOException {
    try (RedisServer server = RedisServer.start();
        RespClient connection = server.connect()) {
      server.pause();
      connection.timeout(Duration.ofMillis(100)).command("PING");
      assertThatThrownBy(connection::value).isInstanceOf(SocketTimeoutException.class);
      server.resume();
      assertThat(connection.timeout(Duration.ofSeconds(30)).value()).isEqualTo("PONG");
      server.pause();
    }
  }

  @Test
  void password_isAskedFor() throws IOException {
    try (RedisServer server = RedisServer.start("requirepass secret");
        RespClient other = new RespClient(server.port())) {
      assertThatThrownBy(() -> other.call("GET", "k")).hasMessageStartingWith("NOAUTH");
      assertThat(server.command("PING")).isEqualTo("PONG");
      assertThat(server.uri()).isEqualTo("redis://:secret@127.0.0.1:" + server.port());
    }
  }

  @Test
  void optionThatNobodyKnows_showsWhatTheServerPrinted() {
    assertThatThrownBy(() -> RedisServer.start("no-such-option yes"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no-such-option")
        .hasMessageContaining("Bad directive");
  }

  @Test
  void replica_followsUntilItIsPromoted() {
    try (RedisServer master = RedisServer.start("requirepass secret")) {
      master.command("SET", "k", "before");
      try (RedisServer replica = master.startReplica("requirepass secret")) {
        assertThat(replica.command("GET", "k")).isEqualTo("before");
        assertThatThrownBy(() -> replica.command("SET", "k", "v"))
            .hasMessageStartingWith("READONLY");
        assertThat(master.command("WAIT", "1", "0")).isEqualTo("1");

        master.kill();
        replica.promote();
        assertThat(replica.command("SET", "k", "after")).isEqualTo("OK");
      }
    }
  }

  @Test
  void sentinel_promotesTheReplicaOfALostMaster() {
    try (RedisServer master = RedisServer.start();
        RedisServer replica = master.startReplica();
        RedisServer sentinel = RedisServer.startSentinel("main", master)) {
      String[] whereIsMain = {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"};
      sentinel.await(
          masters -> masters.contains("slaves=1") && masters.contains("status=ok"), "INFO");
      assertThat(sentinel.command(whereIsMain)).isEqualTo("[127.0.0.1, " + master.port() + "]");
      master.kill();
      String promoted = "[127.0.0.1, " + replica.port() + "]";
      sentinel.await(promoted::equals, whereIsMain);
      replica.await(role -> role.startsWith("[master"), "ROLE");
    }
  }

  @Test
  void cluster_isWhole_andEachNodeHasItsOwnSlots() {
    try (RedisCluster cluster = RedisCluster.start(3)) {
      assertThat(cluster.nodes()).hasSize(3);
      for (String key : List.of("a", "b", "c", "d", "weir:{1}", "weir:{2}")) {
        for (RedisServer node : cluster.nodes()) {
          if (node == cluster.nodeOf(key)) {
            assertThat(node.command("SET", key, "v")).isEqualTo("OK");
          } else {
            assertThatThrownBy(() -> node.command("SET", key, "v"))
                .hasMessageStartingWith("MOVED")
                .hasMessageEndingWith(":" + cluster.nodeOf(key).port());
          }
        }
      }
    }
  }
}
