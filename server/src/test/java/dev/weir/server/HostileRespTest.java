package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import dev.weir.wire.testkit.RespClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests with hostile clients of the RESP port. After each attack, other clients are served as
 * before.
 */
class HostileRespTest {
  private static final String TOKEN = "a-token-of-sixteen";
  private static final int MAX_CONNECTIONS = 30;

  @TempDir private static Path folder;
  private static RunningServer running;
  private static RunningServer guarded;

  /** A guarded server that gives unauthenticated clients little time. */
  private static RunningServer hasty;

  private static RespClient innocent;

  @BeforeAll
  static void start() throws Exception {
    Path tokens = Files.writeString(folder.resolve("tokens"), TOKEN + "\n");
    String[] limits = {
      "request-timeout", "500ms", "idle-timeout", "1h", "max-connections", "" + MAX_CONNECTIONS
    };
    running = RunningServer.start(folder, limits);
    guarded = guarded(tokens, "1h");
    hasty = guarded(tokens, "500ms");
    innocent = new RespClient(running.server.respPort());
  }

  private static RunningServer guarded(Path tokens, String requestTimeout) throws Exception {
    return RunningServer.start(
        folder,
        "request-timeout",
        requestTimeout,
        "max-connections",
        "" + MAX_CONNECTIONS,
        "token-file",
        tokens.toString());
  }

  @AfterAll
  static void stop() throws Exception {
    innocent.close();
    running.close();
    guarded.close();
    hasty.close();
  }

  @AfterEach
  void othersAreServed() throws Exception {
    assertThat(innocent.throttle("CL.THROTTLE", "innocent", "1000", "1", "500"))
        .startsWith(0L, 1001L);
  }

  private static RespClient connect() throws IOException {
    return new RespClient(running.server.respPort());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "*1000000\r\n",
        "*2147483648\r\n",
        "*-99999999999\r\n",
        "*1\r\n$2147483647\r\n",
        "*1\r\n$-1\r\n",
        "*1\r\n+OK\r\n",
        "*00000000000000000000000000000000000",
        "PING \"\r\n",
      })
  void whatIsNoCommand_getsOneErrorAfterTheRepliesBefore_andAClose(String attack) throws Exception {
    try (RespClient client = connect()) {
      client.send("PING\r\n" + attack + "PING\r\nPING\r\n");
      assertThat(client.reply()).isEqualTo("+PONG|");
      assertThat(client.reply()).startsWith("-ERR Protocol error: ");
      assertThat(client.closed()).isTrue();
    }
  }

  @Test
  void lineWithoutEnd_isRefused() throws Exception {
    try (RespClient client = connect()) {
      client.send("x".repeat(70_000));
      assertThat(client.reply()).isEqualTo("-ERR Protocol error: too big inline request|");
      assertThat(client.closed()).isTrue();
    }
  }

  @Test
  void strangers_mayHaveLess() throws Exception {
    String eleven = "*11\r\n" + "$1\r\na\r\n".repeat(11);
    String large = "*1\r\n$16385\r\n";
    for (String attack : new String[] {eleven, large}) {
      try (RespClient client = new RespClient(guarded.server.respPort())) {
        client.send(attack);
        assertThat(client.reply()).startsWith("-ERR Protocol error: invalid ");
        assertThat(client.closed()).isTrue();
      }
      try (RespClient client = new RespClient(guarded.server.respPort())) {
        assertThat(client.exchange("AUTH", TOKEN)).isEqualTo("+OK|");
        client.send(eleven);
        assertThat(client.reply()).isEqualTo("-ERR unknown command 'a'|");
        client.send(large + "x".repeat(16_385) + "\r\n");
        assertThat(client.reply()).startsWith("-ERR unknown command 'xxx");
      }
    }
  }

  @Test
  void strangers_haveLittleTime_whateverTheySay() throws Exception {
    try (RespClient silent = new RespClient(hasty.server.respPort());
        RespClient talking = new RespClient(hasty.server.respPort())) {
      try {
        while (talking.exchange("PING").startsWith("-NOAUTH ")) {
          Thread.onSpinWait();
        }
      } catch (IOException e) {
        assertThat(e).hasMessageNotContaining("timed out");
      }
      assertThat(silent.closed()).isTrue();
    }
  }

  @Test
  void commandThatTrickles_isCutOff() throws Exception {
    try (RespClient client = connect()) {
      client.send("PING\r\n*3\r\n$4\r\nECHO\r\n");
      assertThat(client.reply()).isEqualTo("+PONG|");
      assertThat(client.closed()).isTrue();
    }
  }

  @Test
  void strangerWhoSpellsHisCommands_hasNoMoreTimeForIt() throws Exception {
    try (RespClient client = new RespClient(hasty.server.respPort())) {
      try {
        while (true) {
          client.send("P");
          client.send("ING\r\n");
          assertThat(client.reply()).startsWith("-NOAUTH ");
        }
      } catch (IOException e) {
        assertThat(e).hasMessageNotContaining("timed out");
      }
    }
  }

  @Test
  void clientWhoseReadsNeverEndWithACommand_isServedForAsLongAsItLikes() throws Exception {
    Retried.run(HostileRespTest::serveOneWhoseReadsNeverEnd);
  }

  private static void serveOneWhoseReadsNeverEnd() throws Exception {
    long cut = metric("weir_connections_timed_out_total{door=\"resp\"}");
    try (RespClient client = connect();
        RespClient silent = connect()) {
      client.send("P");
      silent.send("P"); // It is cut off in time, when the other one would have been.
      while (metric("weir_connections_timed_out_total{door=\"resp\"}") == cut) {
        client.send("ING\r\nP");
        assertThat(client.reply()).isEqualTo("+PONG|");
      }
      assertThat(silent.closed()).isTrue();
      client.send("ING\r\n");
      assertThat(client.reply()).isEqualTo("+PONG|");
    }
  }

  @Test
  void pagesInBrowsers_cannotAskInPassing() throws Exception {
    for (String head : new String[] {"POST / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: x\r\n"}) {
      try (RespClient client = connect()) {
        client.send(head + "\r\nDEL innocent\r\nPING\r\n");
        String reply = client.reply();
        if (head.startsWith("GET")) {
          reply = client.reply();
        }
        assertThat(reply).isEqualTo("-ERR this is no HTTP|");
        assertThat(client.closed()).isTrue();
      }
    }
  }

  @Test
  void connectionsBeyondTheLimit_areToldAndClosed() throws Exception {
    awaitConnections(1); // The connections of other tests are gone.
    RespClient[] many = new RespClient[MAX_CONNECTIONS];
    try {
      for (int i = 0; i < many.length; i++) {
        many[i] = connect();
        if (i < many.length - 1) {
          assertThat(many[i].exchange("PING")).isEqualTo("+PONG|");
        }
      }
      RespClient last = many[many.length - 1];
      assertThat(last.reply()).isEqualTo("-ERR max number of clients reached|");
      assertThat(last.closed()).isTrue();
    } finally {
      for (RespClient client : many) {
        if (client != null) {
          client.close();
        }
      }
    }
    awaitConnections(1);
  }

  /** Waits until the server has noticed that connections are gone. */
  private static void awaitConnections(int count) throws Exception {
    while (metric("weir_connections{door=\"resp\"}") > count) {
      Thread.onSpinWait();
    }
  }

  private static long metric(String name) throws Exception {
    return running.metric(name);
  }

  @Test
  void whoNeverReads_isNotReadFrom_andThenCutOff() throws Exception {
    long before = metric("weir_connections_timed_out_total{door=\"resp\"}");
    try (RespClient client = connect()) {
      byte[] pipeline = "COMMAND\r\n".repeat(100_000).getBytes(StandardCharsets.US_ASCII);
      long sent = 0;
      try {
        while (sent < 1L << 30) {
          client.socket().getOutputStream().write(pipeline);
          sent += pipeline.length;
        }
      } catch (IOException e) {
        assertThat(e).isNotInstanceOf(UncheckedIOException.class);
      }
      // A gigabyte would have made 80 GB of replies.
      assertThat(sent).isLessThan(1L << 30);
    }
    assertThat(metric("weir_connections_timed_out_total{door=\"resp\"}")).isGreaterThan(before);
    awaitConnections(1);
  }

  @Test
  void deepPipelines_ofManyConnections_doNotKeepOthersFromTheirTurn() throws Exception {
    Retried.run(HostileRespTest::askBesideDeepPipelines);
  }

  private static void askBesideDeepPipelines() throws Exception {
    String pipeline =
        "*5\r\n$8\r\nTHROTTLE\r\n$1\r\nd\r\n$1\r\n9\r\n$1\r\n1\r\n$1\r\n9\r\n".repeat(100_000);
    Thread[] attackers = new Thread[4];
    for (int i = 0; i < attackers.length; i++) {
      attackers[i] = new Thread(() -> pipelined(pipeline));
      attackers[i].start();
    }
    int answers = 0;
    while (attackers[0].isAlive() || attackers[3].isAlive()) {
      innocent.exchange("PING");
      answers++;
    }
    for (Thread attacker : attackers) {
      attacker.join();
    }
    // Each turn of an attacker is at most 64 KiB of the 5 MB, so there are many in between.
    assertThat(answers).isGreaterThan(10);
  }

  private static void pipelined(String pipeline) {
    try (RespClient client = connect()) {
      Thread sender =
          new Thread(
              () -> {
                try {
                  client.send(pipeline + "QUIT\r\n");
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      sender.start();
      assertThat(client.closed()).isTrue();
      sender.join();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void anythingAtAll_harmsNobody() throws Exception {
    int runs = 300;
    SplittableRandom random = Trials.random("RESP attacks", runs);
    String[] pieces = {
      "*5\r\n",
      "*3\r\n",
      "$11\r\nCL.THROTTLE\r\n",
      "$1\r\na\r\n",
      "$1\r\n9\r\n",
      "$0\r\n\r\n",
      "PING\r\n",
      "HELLO 3\r\n",
      "\"",
      "\r\n",
      "\0",
      "\u00ff",
      "*",
      "$",
      "-1\r\n",
      "CL.THROTTLE a 1 1 1 1\r\n",
      "WEIR.CHECK test 1 user x\r\n",
      "WEIR.CHECK \u00ff\u00fe 1 \u00ff x\r\n",
      "RESET\r\n",
      "*0\r\n",
    };
    for (int trial = 0; trial < runs; trial++) {
      StringBuilder attack = new StringBuilder();
      int length = random.nextInt(40);
      for (int i = 0; i < length; i++) {
        attack.append(pieces[random.nextInt(pieces.length)]);
      }
      try (RespClient client = connect()) {
        client.send(attack.toString());
        if (random.nextBoolean()) {
          client.socket().shutdownOutput();
          assertThat(client.closed()).isTrue();
        }
      } catch (IOException e) {
        assertThat(e).hasMessageNotContaining("timed out");
      }
      if (trial % 20 == 0) {
        awaitConnections(1);
      }
    }
    awaitConnections(1);
  }
}
