package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.wire.testkit.RespClient;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@code MULTI}, {@code EXEC} and {@code DISCARD}, byte for byte. */
class RespTransactionTest {
  private static final String ABORTED =
      "-EXECABORT Transaction discarded because of previous errors.|";

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

  @Test
  void exec_repliesToAllInOneArray() throws Exception {
    assertThat(client.exchange("CL.THROTTLE", "first", "0", "1", "500")).startsWith("*5|:0|");
    client.send("CL.THROTTLE a 0 1 500\r\nMULTI\r\nCL.THROTTLE a 0 1 500\r\nPING\r\n");
    client.send("CL.THROTTLE b 0 1 500\r\nWEIR.CHECK test 1 user multi\r\nEXEC\r\nPING after\r\n");
    assertThat(client.reply()).startsWith("*5|:0|:1|");
    assertThat(client.reply()).isEqualTo("+OK|");
    for (int i = 0; i < 4; i++) {
      assertThat(client.reply()).isEqualTo("+QUEUED|");
    }
    assertThat(client.reply())
        .matches("[*]4[|][*]5[|]:1[|]:1[|].*[|][+]PONG[|][*]5[|]:0[|]:1[|].*[|][*]7[|]:1[|].*");
    assertThat(client.reply()).isEqualTo("$5|after|");
  }

  @Test
  void exec_ofNothing_isAnEmptyArray() throws Exception {
    assertThat(client.exchange("MULTI")).isEqualTo("+OK|");
    assertThat(client.exchange("EXEC")).isEqualTo("*0|");
  }

  @Test
  void discard_runsNothing() throws Exception {
    assertThat(client.exchange("MULTI")).isEqualTo("+OK|");
    assertThat(client.exchange("CL.THROTTLE", "discarded", "0", "1", "500")).isEqualTo("+QUEUED|");
    assertThat(client.exchange("DISCARD")).isEqualTo("+OK|");
    assertThat(client.exchange("CL.THROTTLE", "discarded", "0", "1", "500")).startsWith("*5|:0|");
  }

  @Test
  void commandThatCannotBeRun_refusesTheWhole() throws Exception {
    String[][] bad = {{"GET", "x"}, {"CL.THROTTLE", "k"}, {"HELLO", "3"}, {"AUTH", "x"}, {"ECHO"}};
    for (String[] words : bad) {
      assertThat(client.exchange("MULTI")).isEqualTo("+OK|");
      assertThat(client.exchange("CL.THROTTLE", "refused", "0", "1", "500")).isEqualTo("+QUEUED|");
      assertThat(client.exchange(words)).as(words[0]).startsWith("-ERR ");
      assertThat(client.exchange("PING")).startsWith("-ERR an earlier command was refused");
      assertThat(client.exchange("EXEC")).isEqualTo(ABORTED);
      assertThat(client.exchange("PING")).isEqualTo("+PONG|");
    }
    assertThat(client.exchange("CL.THROTTLE", "refused", "0", "1", "500")).startsWith("*5|:0|");
  }

  @Test
  void nestedMulti_isAnError_andTheTransactionGoesOn() throws Exception {
    assertThat(client.exchange("MULTI")).isEqualTo("+OK|");
    assertThat(client.exchange("PING")).isEqualTo("+QUEUED|");
    assertThat(client.exchange("MULTI")).isEqualTo("-ERR MULTI calls can not be nested|");
    assertThat(client.exchange("EXEC")).isEqualTo("*1|+PONG|");
  }

  @Test
  void commandThatFails_isAnErrorInItsPlace() throws Exception {
    client.send("MULTI\r\nCL.THROTTLE k many 1 1\r\nPING\r\nEXEC\r\n");
    assertThat(client.reply()).isEqualTo("+OK|");
    assertThat(client.reply()).isEqualTo("+QUEUED|");
    assertThat(client.reply()).isEqualTo("+QUEUED|");
    assertThat(client.reply()).startsWith("*2|-ERR max_burst: many (expected").endsWith("+PONG|");
  }

  @Test
  void withoutMulti_isAnError() throws Exception {
    assertThat(client.exchange("EXEC")).isEqualTo("-ERR EXEC without MULTI|");
    assertThat(client.exchange("DISCARD")).isEqualTo("-ERR DISCARD without MULTI|");
    assertThat(client.exchange("WATCH", "k")).isEqualTo("-ERR unknown command 'WATCH'|");
  }

  @Test
  void reset_endsATransaction() throws Exception {
    assertThat(client.exchange("MULTI")).isEqualTo("+OK|");
    assertThat(client.exchange("RESET")).isEqualTo("+RESET|");
    assertThat(client.exchange("EXEC")).isEqualTo("-ERR EXEC without MULTI|");
    assertThat(client.exchange("MULTI")).isEqualTo("+OK|");
    assertThat(client.exchange("QUIT")).isEqualTo("+OK|");
  }

  @Test
  void transactionBeyondOneMebibyte_isRefused() throws Exception {
    String text = "x".repeat(60_000);
    assertThat(client.exchange("MULTI")).isEqualTo("+OK|");
    for (int i = 0; i < 17; i++) {
      assertThat(client.exchange("ECHO", text)).isEqualTo("+QUEUED|");
    }
    assertThat(client.exchange("ECHO", text)).startsWith("-ERR MULTI: more than 1 MiB of commands");
    assertThat(client.exchange("EXEC")).isEqualTo(ABORTED);
    assertThat(client.exchange("MULTI")).isEqualTo("+OK|");
    for (int i = 0; i < 17; i++) {
      assertThat(client.exchange("ECHO", text)).isEqualTo("+QUEUED|");
    }
    assertThat(client.exchange("EXEC")).isEqualTo("*17|" + ("$60000|" + text + "|").repeat(17));
  }
}
