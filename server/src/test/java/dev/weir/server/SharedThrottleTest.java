package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.LateStore;
import dev.weir.testkit.Trials;
import dev.weir.wire.testkit.RespClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@code CL.THROTTLE} and {@code THROTTLE} over a store that answers later. */
@Timeout(120)
class SharedThrottleTest {
  @TempDir private Path folder;
  private final LateStore store = new LateStore();
  private final CountDownLatch stopAnswering = new CountDownLatch(1);
  private LogCapture log;
  private RunningServer running;
  private RespClient client;

  @BeforeEach
  void start() throws Exception {
    log = new LogCapture();
    running = RunningServer.start(folder, SharedStores.of(store), "drain-delay", "0s");
    client = client();
  }

  @AfterEach
  void stop() throws Exception {
    stopAnswering.countDown();
    client.close();
    running.close();
    log.close();
  }

  private RespClient client() throws Exception {
    return new RespClient(running.server.respPort());
  }

  private void awaitDue(int answers) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (store.due() < answers && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
    assertThat(store.due()).isEqualTo(answers);
  }

  private CompletableFuture<Void> answerUntilStopped() {
    return CompletableFuture.runAsync(
        () -> {
          while (stopAnswering.getCount() > 0) {
            store.answer();
            Thread.onSpinWait();
          }
        });
  }

  /** A model of the replies to one connection, by plain counting: no time passes in the buckets. */
  private static final class Model {
    private final Map<String, Integer> used = new HashMap<>();
    private int checked;

    String reply(String command) {
      String[] words = command.split(" ", -1);
      return switch (words[0]) {
        case "CL.THROTTLE" -> throttle(words[1], ":0", ":1");
        case "THROTTLE" -> throttle(words[1], ":1", ":0");
        case "DEL" -> {
          int found = used.remove(words[1]) == null ? 0 : 1;
          yield ":" + (found + (used.remove(words[2]) == null ? 0 : 1)) + "|";
        }
        case "WEIR.CHECK" -> {
          checked++;
          yield "*7|:1|:1000|:" + (1_000 - checked) + "|";
        }
        case "ECHO" -> "$" + words[1].length() + "|" + words[1] + "|";
        case "PING" -> "+PONG|";
        default -> "-ERR unknown command '" + words[0] + "'|";
      };
    }

    private String throttle(String key, String allowed, String limited) {
      int before = used.getOrDefault(key, 0);
      used.put(key, Math.min(3, before + 1));
      return before < 3
          ? "*5|" + allowed + "|:3|:" + (2 - before) + "|"
          : "*5|" + limited + "|:3|:0|";
    }
  }

  private static String command(Random random, String connection, int i) {
    String key = connection + "k" + random.nextInt(5);
    return switch (random.nextInt(12)) {
      case 0 -> "WEIR.CHECK test 1 tenant " + connection;
      case 1 -> "DEL " + key + " " + key + "x";
      case 2 -> "PING";
      case 3 -> "ECHO " + i;
      case 4 -> "NONE";
      case 5, 6, 7 -> "THROTTLE " + key + " 3 1 86400";
      default -> "CL.THROTTLE " + key + " 2 1 86400";
    };
  }

  @Test
  void repliesToMixedCommands_keepTheirOrder() throws Exception {
    int runs = 6;
    long seed = Trials.random("mixed commands", runs).nextLong();
    Random random = new Random(seed);
    List<RespClient> clients = new ArrayList<>();
    List<List<String>> expected = new ArrayList<>();
    CompletableFuture<Void> answering = answerUntilStopped();
    for (int c = 0; c < runs; c++) {
      Model model = new Model();
      List<String> replies = new ArrayList<>();
      StringBuilder commands = new StringBuilder();
      for (int i = 0; i < 900; i++) {
        String command = command(random, "c" + c, i);
        commands.append(command).append("\r\n");
        replies.add(model.reply(command));
      }
      RespClient each = client().send(commands.toString());
      clients.add(each);
      expected.add(replies);
    }
    for (int c = 0; c < clients.size(); c++) {
      for (int i = 0; i < expected.get(c).size(); i++) {
        assertThat(clients.get(c).reply())
            .as("seed %s, connection %s, reply %s", seed, c, i)
            .startsWith(expected.get(c).get(i));
      }
      clients.get(c).close();
    }
    stopAnswering.countDown();
    answering.get(30, TimeUnit.SECONDS);
  }

  @Test
  void moreCallsThanAreDecidedTogether_areAllAnswered() throws Exception {
    CompletableFuture<Void> answering = answerUntilStopped();
    client.send("CL.THROTTLE k 999 1 86400\r\n".repeat(1_000) + "QUIT\r\n");
    for (int i = 1; i <= 1_000; i++) {
      assertThat(client.reply()).startsWith("*5|:0|:1000|:" + (1_000 - i) + "|");
    }
    assertThat(client.reply()).isEqualTo("+OK|");
    assertThat(client.closed()).isTrue();
    stopAnswering.countDown();
    answering.get(30, TimeUnit.SECONDS);
  }

  @Test
  void connectionsThatWait_askOnceEach_andHoldUpNoOther() throws Exception {
    int waiting = 4 * Runtime.getRuntime().availableProcessors();
    List<RespClient> clients = new ArrayList<>();
    for (int i = 0; i < waiting; i++) {
      clients.add(client().send(("CL.THROTTLE w" + i + " 0 1 86400\r\n").repeat(500)));
    }
    awaitDue(waiting);
    for (int i = 0; i < waiting; i++) {
      try (RespClient other = client()) {
        assertThat(other.exchange("PING")).isEqualTo("+PONG|");
      }
    }
    assertThat(store.due()).isEqualTo(waiting);
    CompletableFuture<Void> answering = answerUntilStopped();
    for (RespClient each : clients) {
      assertThat(each.reply()).startsWith("*5|:0|:1|:0|:-1|");
      for (int i = 1; i < 500; i++) {
        assertThat(each.reply()).startsWith("*5|:1|:1|:0|");
      }
      each.close();
    }
    stopAnswering.countDown();
    answering.get(30, TimeUnit.SECONDS);
  }

  @Test
  void del_waitsForAllItsResets() throws Exception {
    client
        .command("CL.THROTTLE", "a", "0", "1", "86400")
        .command("DEL", "a", "b", "c")
        .command("CL.THROTTLE", "a", "0", "1", "86400");
    awaitDue(1);
    store.answer();
    assertThat(client.reply()).startsWith("*5|:0|");
    awaitDue(3);
    store.answer();
    assertThat(client.reply()).isEqualTo(":1|");
    awaitDue(1);
    store.answer();
    assertThat(client.reply()).as("the bucket is full again").startsWith("*5|:0|");
  }

  @Test
  void errors_areSaidInTheirTurn() throws Exception {
    CompletableFuture<Void> answering = answerUntilStopped();
    client.send(
        "CL.THROTTLE k 1 1 500\r\nCL.THROTTLE k many 1 500\r\nTHROTTLE k 2 1 500\r\nDEL\r\n"
            + "THROTTLE k 2 1 500\r\n*1\r\n!");
    assertThat(client.reply()).startsWith("*5|:0|:2|:1|");
    assertThat(client.reply()).startsWith("-ERR max_burst: many (expected: ");
    assertThat(client.reply()).startsWith("*5|:1|:2|:0|");
    assertThat(client.reply()).startsWith("-ERR wrong number of arguments for 'del'");
    assertThat(client.reply()).startsWith("*5|:0|:2|:0|");
    assertThat(client.reply()).startsWith("-ERR Protocol error: expected '$', got '!'");
    assertThat(client.closed()).isTrue();
    stopAnswering.countDown();
    answering.get(30, TimeUnit.SECONDS);
  }

  @Test
  void clientThatIsGone_disturbsNoOther() throws Exception {
    client.command("CL.THROTTLE", "k", "1", "1", "86400");
    awaitDue(1);
    client.close();
    try (RespClient other = client()) {
      other.command("CL.THROTTLE", "k", "1", "1", "86400");
      awaitDue(2);
      store.answer();
      assertThat(other.reply()).startsWith("*5|:0|:2|:0|");
      assertThat(other.exchange("PING")).isEqualTo("+PONG|");
    }
  }

  @Test
  void drain_waitsForTheStore() throws Exception {
    client.command("THROTTLE", "k", "2", "1", "86400");
    awaitDue(1);
    CompletableFuture<Void> drained =
        CompletableFuture.runAsync(
            () -> {
              try {
                running.server.drain(Duration.ofSeconds(30));
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    log.await("no new requests");
    store.answer();
    assertThat(client.reply()).startsWith("*5|:1|:2|:1|");
    assertThat(client.closed()).isTrue();
    drained.get(30, TimeUnit.SECONDS);
  }

  @Test
  void metrics_countWhatTheStoreHasAnswered() throws Exception {
    client.send("THROTTLE k 1 1 86400\r\nTHROTTLE k 1 1 86400\r\n");
    awaitDue(1);
    store.answer();
    assertThat(client.reply()).startsWith("*5|:1|");
    assertThat(client.reply()).startsWith("*5|:0|");
    assertThat(running.get("/metrics").body())
        .contains("weir_throttle_requests_total 2.0\n", "weir_throttle_denied_total 1.0\n");
  }

  @Test
  void localStore_answersByItselfBesideASharedOne() throws Exception {
    try (RunningServer alone =
            RunningServer.start(folder, SharedStores.of(store), "throttle-store", "local");
        RespClient own = new RespClient(alone.server.respPort())) {
      assertThat(own.throttle("CL.THROTTLE", "k", "1", "1", "86400")).startsWith(0L, 2L, 1L);
      assertThat(own.exchange("DEL", "k", "x")).isEqualTo(":1|");
      assertThat(store.due()).isZero();
    }
  }
}
