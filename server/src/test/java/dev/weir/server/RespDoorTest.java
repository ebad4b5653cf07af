package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.wire.testkit.RespClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the replies to Redis clients, byte for byte. */
class RespDoorTest {
  @TempDir private static Path folder;
  private static RunningServer running;
  private RespClient client;

  @BeforeAll
  static void start() throws Exception {
    running = RunningServer.start(folder);
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  @BeforeEach
  void connect() throws Exception {
    client = new RespClient(running.server.respPort());
  }

  @AfterEach
  void disconnect() throws Exception {
    client.close();
  }

  /** Sends a command, and accepts that up to half a minute has passed since the last calls. */
  private void throttle(String command, long... expected) throws Exception {
    List<Long> reply = client.throttle(command.split(" ", -1));
    assertThat(reply).as(command).hasSize(5);
    for (int i = 0; i < 5; i++) {
      long slack = expected[i] >= 500 ? 30 : 0;
      assertThat(reply.get(i)).as(command + " " + i).isBetween(expected[i] - slack, expected[i]);
    }
  }

  @Test
  void clThrottle_saysWhetherItIsLimited() throws Exception {
    // A permit every 500 seconds, and at most four at once.
    throttle("CL.THROTTLE cell 3 1 500", 0, 4, 3, -1, 500);
    throttle("cl.throttle cell 3 1 500 0", 0, 4, 3, -1, 500);
    throttle("CL.THROTTLE cell 3 1 500 2", 0, 4, 1, -1, 1500);
    throttle("CL.THROTTLE cell 3 1 500 2", 1, 4, 1, 500, 1500);
    throttle("CL.THROTTLE cell 3 1 500 5", 1, 4, 1, -1, 1500);
    assertThat(client.exchange("DEL", "cell", "no such key")).isEqualTo(":1|");
    throttle("CL.THROTTLE cell 3 1 500 4", 0, 4, 0, -1, 2000);
  }

  @Test
  void gcra_isClThrottleInAnotherForm() throws Exception {
    throttle("GCRA gcra 3 1 500", 0, 4, 3, -1, 500);
    throttle("gcra gcra 3 1 500.0 tokens 2", 0, 4, 1, -1, 1500);
    throttle("GCRA gcra 3 1 500 TOKENS 2", 1, 4, 1, 500, 1500);
    throttle("GCRA gcra 3 1 500 TOKENS 5", 1, 4, 1, -1, 1500);
    throttle("CL.THROTTLE gcra 3 1 500 0", 0, 4, 1, -1, 1500);
    // A token every 1000.5 seconds.
    throttle("GCRA half 3 1 1000.5", 0, 4, 3, -1, 1001);
    throttle("GCRA none 3 1 500 TOKENS 5", 1, 4, 4, -1, -1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "GCRA k 3 1 | wrong number of arguments for 'gcra' command (expected: <key> <max_burst>"
            + " <tokens_per_period> <period seconds> [TOKENS <count>])",
        "GCRA k 3 1 60 5 | wrong number of arguments for 'gcra' command (expected: <key>"
            + " <max_burst> <tokens_per_period> <period seconds> [TOKENS <count>])",
        "GCRA k 3 1 60 PERMITS 5 | GCRA: PERMITS (expected: TOKENS)",
        "GCRA k 3 1 60 TOKENS 0 | TOKENS: 0 (expected: a whole number, 1..576460752303423487)",
        "GCRA k -1 1 60 | max_burst: -1 (expected: a whole number, 0..4294967294)",
        "GCRA k 3 0 60 | tokens_per_period: 0 (expected: a whole number, 1..4294967295)",
        "GCRA k 3 1 0 | period: 0 (expected: seconds, 0.001..31622400, at most 3 digits behind the"
            + " point)",
        "GCRA k 3 1 0.0001 | period: 0.0001 (expected: seconds, 0.001..31622400, at most 3 digits"
            + " behind the point)",
        "GCRA k 3 1 1e3 | period: 1e3 (expected: seconds, 0.001..31622400, at most 3 digits behind"
            + " the point)"
      })
  void gcraOfWrongArguments_isOneClearError(String command, String error) throws Exception {
    assertThat(client.exchange(command.split(" "))).isEqualTo("-ERR " + error + "|");
  }

  private void increx(String command, long value, long applied) throws Exception {
    assertThat(client.exchange(command.split(" ")))
        .as(command)
        .isEqualTo("*2|:" + value + "|:" + applied + "|");
  }

  @Test
  void increx_countsASlidingWindow() throws Exception {
    increx("INCREX inc UBOUND 3 EX 500 ENX", 1, 1);
    increx("increx inc ubound 3 ex 500 byint 2", 3, 2);
    increx("INCREX inc UBOUND 3 EX 500 ENX", 3, 0);
    increx("INCREX inc BYINT 9 UBOUND 3 PX 500000 ENX", 3, 0);
    increx("INCREX inc UBOUND 5 PX 500000", 4, 1);
    increx("INCREX inc UBOUND 3 EX 500", 3, 0);
    increx("INCREX inc UBOUND 3 EX 60", 1, 1);
    increx("INCREX none UBOUND 0 EX 60", 0, 0);
    throttle("CL.THROTTLE inc 3 1 500", 0, 4, 3, -1, 500);
    assertThat(client.exchange("DEL", "inc", "none")).isEqualTo(":1|");
    increx("INCREX inc UBOUND 3 EX 500 ENX", 1, 1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INCREX k UBOUND 3 SATURATE EX 5 | SATURATE",
        "INCREX k UBOUND 3 LBOUND 0 EX 5 | LBOUND",
        "INCREX k BYFLOAT 1.5 UBOUND 3 EX 5 | BYFLOAT",
        "INCREX k UBOUND 3 EXAT 1800000000 | EXAT",
        "INCREX k UBOUND 3 PERSIST EX 5 | PERSIST",
        "INCREX k UBOUND 3 EX 5 PX 5000 | PX",
        "INCREX k UBOUND 3 EX 5 UBOUND 3 | UBOUND",
        "INCREX k UBOUND 3 EX 5 ENX ENX | ENX",
        "INCREX k UBOUND 3 EX 5 BYINT | BYINT",
        "INCREX k BYINT 1 EX 5 | no UBOUND",
        "INCREX k BYINT 1 UBOUND 5 | neither EX nor PX"
      })
  void increxThatIsNoLimit_isOneClearError(String line) throws Exception {
    String[] parts = line.split(" [|] ", -1);
    assertThat(client.exchange(parts[0].split(" ")))
        .isEqualTo(
            "-ERR INCREX: "
                + parts[1]
                + " (expected: <key> [BYINT <n>] UBOUND <limit> EX <seconds> | PX <milliseconds>"
                + " [ENX])|");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "INCREX k UBOUND 3 EX 0; EX: 0 (expected: a whole number, 1..31622400)",
        "INCREX k UBOUND 3 PX 0; PX: 0 (expected: a whole number, 1..31622400000)",
        "INCREX k UBOUND -1 EX 5; UBOUND: -1 (expected: a whole number, 0..4294967295)",
        "INCREX k BYINT 0 UBOUND 3 EX 5; BYINT: 0 (expected: a whole number,"
            + " 1..576460752303423487)",
        "INCREX k UBOUND 3; wrong number of arguments for 'increx' command (expected: <key>"
            + " [BYINT <n>] UBOUND <limit> EX <seconds> | PX <milliseconds> [ENX])"
      })
  void increxOfWrongNumbers_isOneClearError(String command, String error) throws Exception {
    assertThat(client.exchange(command.split(" "))).isEqualTo("-ERR " + error + "|");
  }

  @Test
  void throttle_saysWhetherItIsAllowed() throws Exception {
    throttle("THROTTLE crab 3 1 500", 1, 3, 2, 500, 0);
    throttle("throttle crab 3 1 500 2", 1, 3, 0, 1500, 0);
    throttle("THROTTLE crab 3 1 500", 0, 3, 0, 1500, 500);
    throttle("THROTTLE crab 3 1 500 4", 0, 3, 0, 1500, -1);
  }

  @Test
  void entries_areUtf8() throws Exception {
    assertThat(client.exchange("WEIR.CHECK", "test", "1", "user", "\u00e4\uFFFD"))
        .as("also the character that stands for what is none")
        .startsWith("*7|:1|");
    client.send(
        "*5\r\n$10\r\nWEIR.CHECK\r\n$4\r\ntest\r\n$1\r\n1\r\n$4\r\nuser\r\n$1\r\n\u00e4\r\n");
    assertThat(client.reply()).startsWith("-ERR entry value: not UTF-8 (expected: text in UTF-8)");
  }

  @Test
  void keys_areBytes() throws Exception {
    for (String key : List.of("", "a b", "\u00e4\u00f6\r\n$5", "x".repeat(10_000))) {
      assertThat(client.throttle("CL.THROTTLE", key, "0", "1", "500")).startsWith(0L, 1L);
      assertThat(client.throttle("CL.THROTTLE", key, "0", "1", "500")).startsWith(1L, 1L);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '~',
      value = {
        "CL.THROTTLE k 1 1; wrong number of arguments for 'cl.throttle' command",
        "CL.THROTTLE k 1 1 1 1 1; wrong number of arguments for 'cl.throttle' command",
        "THROTTLE k; wrong number of arguments for 'throttle' command",
        "CL.THROTTLE k many 1 1; max_burst: many (expected: a whole number, 0..4294967294)",
        "CL.THROTTLE k -1 1 1; max_burst: -1 (expected: a whole number, 0..4294967294)",
        "THROTTLE k 0 1 1; max_burst: 0 (expected: a whole number, 1..4294967295)",
        "CL.THROTTLE k 1 0 1; count per period: 0 (expected: a whole number, 1..4294967295)",
        "CL.THROTTLE k 1 1 0; period: 0 (expected: a whole number, 1..31622400)",
        "CL.THROTTLE k 1 1 1 -1; quantity: -1 (expected: a whole number, 0..",
        "CL.THROTTLE k 4294967294 1 31622400; burst: 4294967295 (expected: 0..",
        "WEIR.CHECK test 1 user; wrong number of arguments for 'weir.check' command",
        "WEIR.CHECK test few user a; permits: few (expected: a whole number, 0..4294967295)",
        "WEIR.CHECK ' 1 user a; rate limit domain must not be empty",
        "PING a b; wrong number of arguments for 'ping' command",
        "SELECT 1; DB index: 1 (expected: a whole number, 0..0)",
        "GET a; unknown command 'GET'",
        "EVALSHA 0 0; EVALSHA: scripts are not run here",
        "script load x; SCRIPT: scripts are not run here",
        "G{7}ET{10}; unknown command 'G?ET?'",
        "CLIENT KILL a; CLIENT: KILL (expected: SETNAME <name>, GETNAME, SETINFO",
        "HELLO 3 PLEASE; HELLO: PLEASE (expected: AUTH, SETNAME)",
        "AUTH secret; AUTH called without any token configured",
      })
  void badCommands_getOneErrorEach_andTheConnectionLivesOn(String command, String message)
      throws Exception {
    String[] words = command.split(" ", -1);
    for (int i = 0; i < words.length; i++) {
      words[i] = words[i].equals("'") ? "" : words[i].replace("{7}", "\b").replace("{10}", "\n");
    }
    assertThat(client.exchange(words)).startsWith("-ERR " + message).endsWith("|");
    assertThat(client.exchange("PING")).isEqualTo("+PONG|");
  }

  @Test
  void weirCheck_decidesByTheRules() throws Exception {
    assertThat(client.exchange("WEIR.CHECK", "test", "2", "user", "resp"))
        .matches("\\*7[|]:1[|]:3[|]:1[|]:0[|]:[0-9]+[|][$]8[|]per-user[|][$]12[|]WITHIN_LIMIT[|]");
    assertThat(client.exchange("WEIR.CHECK", "test", "0", "user", "resp"))
        .startsWith("*7|:1|:3|:1|:0|:");
    assertThat(client.exchange("WEIR.CHECK", "test", "2", "user", "resp"))
        .matches(
            "\\*7[|]:0[|]:3[|]:1[|]:[0-9]+[|]:[0-9]+[|][$]8[|]per-user[|][$]10[|]OVER_LIMIT[|]");
    assertThat(client.exchange("WEIR.CHECK", "test", "1", "never", "x"))
        .startsWith("*7|:0|:0|:0|:-1|:");
    assertThat(client.exchange("WEIR.CHECK", "test", "1", "unknown", "x"))
        .isEqualTo("*7|:1|:-1|:-1|:0|:0|$0||$8|NO_LIMIT|");
    // The counts of one port are those of the others.
    client.exchange("WEIR.CHECK", "test", "1", "user", "resp");
    assertThat(running.check("user", "resp").statusCode()).isEqualTo(429);
  }

  @Test
  void hello_changesTheProtocol() throws Exception {
    assertThat(client.exchange("CLIENT", "GETNAME")).isEqualTo("$-1|");
    assertThat(client.exchange("HELLO"))
        .startsWith("*14|$6|server|$4|weir|$7|version|$5|7.0.0|$5|proto|:2|");
    assertThat(client.exchange("HELLO", "3", "SETNAME", "me"))
        .startsWith("%7|$6|server|$4|weir|")
        .endsWith("$7|modules|*0|");
    assertThat(client.exchange("CLIENT", "GETNAME")).isEqualTo("$2|me|");
    assertThat(client.exchange("HELLO", "4")).isEqualTo("-NOPROTO unsupported protocol version|");
    assertThat(client.exchange("RESET")).isEqualTo("+RESET|");
    assertThat(client.exchange("CLIENT", "GETNAME")).isEqualTo("$-1|");
    assertThat(client.exchange("HELLO", "3")).startsWith("%7|");
    assertThat(client.exchange("CLIENT", "GETNAME")).isEqualTo("_|");
  }

  @Test
  void whatClientsSendOnConnecting_isAnswered() throws Exception {
    assertThat(client.exchange("CLIENT", "SETINFO", "LIB-NAME", "jedis")).isEqualTo("+OK|");
    assertThat(client.exchange("CLIENT", "SETNAME", "a b"))
        .startsWith("-ERR client name: a b (expected");
    assertThat(client.exchange("CLIENT", "ID")).matches(":[0-9]+[|]");
    assertThat(client.exchange("SELECT", "0")).isEqualTo("+OK|");
    assertThat(client.exchange("ECHO", "hello")).isEqualTo("$5|hello|");
    assertThat(client.exchange("PING", "hello")).isEqualTo("$5|hello|");
    assertThat(client.exchange("COMMAND", "COUNT")).isEqualTo(":27|");
    assertThat(client.exchange("COMMAND", "DOCS")).isEqualTo("*0|");
    assertThat(client.exchange("COMMAND"))
        .startsWith("*27|*6|$11|cl.throttle|:-5|*1|+write|:1|:1|:1|");
    assertThat(client.exchange("INFO"))
        .contains("redis_version:7.0.0")
        .contains("role:master")
        .contains("throttle_keys:");
    assertThat(client.exchange("INFO", "REPLICATION"))
        .isEqualTo("$48|# Replication\r\nrole:master\r\nconnected_slaves:0\r\n|");
    assertThat(client.exchange("INFO", "persistence")).isEqualTo("$0||");
    assertThat(client.exchange("CLIENT", "TRACKING", "ON", "OPTIN")).isEqualTo("+OK|");
    assertThat(client.exchange("CLIENT", "NO-EVICT", "on")).isEqualTo("+OK|");
    assertThat(client.exchange("QUIT")).isEqualTo("+OK|");
    assertThat(client.closed()).isTrue();
  }

  @Test
  void pipelines_areAnsweredInOrder_whateverIsInThem() throws Exception {
    StringBuilder commands = new StringBuilder();
    int rounds = 3_000;
    for (int i = 0; i < rounds; i++) {
      commands.append("THROTTLE pipe").append(i % 7).append(" 4000 1 500\r\n");
      commands.append("ECHO ").append(i).append("\r\n");
      commands.append("CL.THROTTLE a b\r\n");
      commands.append("WEIR.CHECK test 0 tenant t\r\n");
    }
    Thread sender =
        new Thread(
            () -> {
              try {
                client.send(commands.toString());
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    sender.start();
    for (int i = 0; i < rounds; i++) {
      assertThat(client.reply()).startsWith("*5|:1|:4000|:" + (3999 - i / 7) + "|");
      assertThat(client.reply()).contains("|" + i + "|");
      assertThat(client.reply()).startsWith("-ERR wrong number");
      assertThat(client.reply()).startsWith("*7|:1|:1000|:1000|");
    }
    sender.join();
  }

  @Test
  void inlineCommands_workByHand() throws Exception {
    client.send("ping\r\n\r\n  CL.THROTTLE \"by hand\" 0 1 500\n");
    assertThat(client.reply()).isEqualTo("+PONG|");
    assertThat(client.reply()).isEqualTo("*5|:0|:1|:0|:-1|:500|");
  }

  @Test
  void metrics_countTheDoor() throws Exception {
    client.throttle("CL.THROTTLE", "metric", "0", "1", "500");
    client.throttle("CL.THROTTLE", "metric", "0", "1", "500");
    assertThat(running.get("/metrics").body())
        .containsPattern("weir_throttle_requests_total [1-9]")
        .containsPattern("weir_throttle_denied_total [1-9]")
        .containsPattern("weir_throttle_keys [1-9]")
        .containsPattern("weir_connections\\{door=\"resp\"} [1-9]");
  }
}
