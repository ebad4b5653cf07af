package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ErrorWordsTest {
  @Test
  void words_areTheFirstCauses_orWhatItIs() {
    assertThat(ErrorWords.words(new IllegalStateException("outer", new IOException("inner"))))
        .isEqualTo("inner");
    assertThat(ErrorWords.words(new CompletionException(new ClosedChannelException())))
        .isEqualTo("the connection was closed");
    assertThat(ErrorWords.words(new TimeoutException())).isEqualTo("no answer in time");
    assertThat(ErrorWords.words(new IllegalStateException(""))).isEqualTo("IllegalStateException");
    assertThat(ErrorWords.words(new IllegalStateException("a null")))
        .isEqualTo("IllegalStateException");
    assertThat(ErrorWords.words(new IllegalStateException("RedisHandshakeHandler not registered")))
        .isEqualTo("the connection was closed while it was being made");
  }

  /** Servers of other protocols: each sends some bytes of its own, and closes. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "-ERR no\r\n",
        "-\r\n",
        "$-1\r\n",
        "*-1\r\n",
        "\u0000\u0001"
      })
  void serverThatIsNoRedis_isToldInWords(String said) throws Exception {
    Queue<String> log = new ConcurrentLinkedQueue<>();
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread answering = new Thread(() -> answer(server, said), "no-redis");
      answering.setDaemon(true);
      answering.start();
      try (RedisStore store =
          RedisStore.builder("redis://127.0.0.1:" + server.getLocalPort()).log(log::add).build()) {
        Redis.await(() -> !log.isEmpty());
        assertThat(store.available()).isFalse();
        assertThat(store.problem()).isNotEmpty();
      }
    }
    assertThat(log)
        .allSatisfy(
            line ->
                assertThat(line)
                    .matches("(?s).*\\w.*")
                    .doesNotContain("null")
                    .doesNotContain("RedisHandshakeHandler")
                    .doesNotEndWith(": "));
  }

  private static void answer(ServerSocket server, String said) {
    try {
      while (true) {
        try (Socket socket = server.accept()) {
          socket.getOutputStream().write(said.getBytes(StandardCharsets.ISO_8859_1));
          if (!said.isEmpty()) {
            int unused = socket.getInputStream().read();
          }
        }
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }
}
