package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests of {@code /json} that are answered before the codec, beside those that are not. */
class QuickJsonTest {
  /** No number in an answer depends on the time, as long as a test takes less than a day. */
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: bucket
          rate_limit: {unit: year, requests_per_unit: 3, algorithm: token-bucket, name: a}
        - key: log
          rate_limit: {unit: year, requests_per_unit: 2}
        - key: never
          rate_limit: {unit: hour, requests_per_unit: 0}
        - key: odd
          rate_limit: {unit: year, requests_per_unit: 2, name: "a<b"}
        - key: watched
          shadow_mode: true
          rate_limit: {unit: year, requests_per_unit: 1}
        - key: free
          rate_limit: {unlimited: true}
      """;

  /** A field that no short way takes, and that changes nothing else. */
  private static final String LONG_WAY = "X-Name: \u00e9\r\n";

  @TempDir private static Path folder;
  private static RunningServer running;

  @BeforeAll
  static void start() throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    running = RunningServer.start(Map.of("rules", rules.toString()));
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  private static String request(String field, String key, String value) {
    String body =
        "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"key\":\"%s\",\"value\":\"%s\"}]}]}"
            .formatted(key, value);
    return "POST /json HTTP/1.1\r\nHost: a\r\n%sContent-Length: %d\r\n\r\n%s"
        .formatted(field, body.length(), body);
  }

  private static Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), running.server.httpPort());
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(60_000);
    return socket;
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** Reads one answer with a body of a known length. */
  private static String receive(Socket socket) throws IOException {
    InputStream in = socket.getInputStream();
    StringBuilder text = new StringBuilder();
    while (text.indexOf("\r\n\r\n") < 0) {
      text.append(next(in));
    }
    int length =
        Integer.parseInt(text.toString().replaceAll("(?s).*content-length: (\\d+).*", "$1"));
    for (int i = 0; i < length; i++) {
      text.append(next(in));
    }
    return text.toString();
  }

  private static char next(InputStream in) throws IOException {
    int c = in.read();
    if (c < 0) {
      throw new IOException("the server has closed");
    }
    return (char) c;
  }

  private static String ask(Socket socket, String text) throws IOException {
    send(socket, text);
    return receive(socket);
  }

  @ParameterizedTest
  @ValueSource(strings = {"bucket", "log", "never", "odd", "watched", "free", "unknown"})
  void shortAndLongWay_haveTheSameAnswers(String key) throws Exception {
    try (Socket socket = connect()) {
      for (int i = 0; i < 5; i++) {
        String quick = ask(socket, request("", key, "quick"));
        String slow = ask(socket, request(LONG_WAY, key, "slow"));
        assertThat(quick).startsWith("HTTP/1.1 ").isEqualTo(slow);
      }
    }
  }

  @Test
  void bothWays_countForTheSameKey() throws Exception {
    try (Socket socket = connect()) {
      assertThat(ask(socket, request("", "bucket", "both")))
          .contains(" 200 OK", "\"limitRemaining\":2");
      assertThat(ask(socket, request(LONG_WAY, "bucket", "both"))).contains("\"limitRemaining\":1");
      assertThat(ask(socket, request("", "bucket", "both"))).contains(" 200 OK");
      assertThat(ask(socket, request(LONG_WAY, "bucket", "both"))).contains(" 429 ");
      assertThat(ask(socket, request("", "bucket", "both")))
          .contains(" 429 Too Many Requests", "\"overallCode\":\"OVER_LIMIT\"");
    }
  }

  @Test
  void requestsOfBothWays_areAnsweredInTheirOrder() throws Exception {
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < 50; i++) {
      all.append(request(i % 7 == 3 ? LONG_WAY : "", i % 3 == 0 ? "never" : "bucket", "o" + i));
    }
    try (Socket socket = connect()) {
      send(socket, all.toString());
      for (int i = 0; i < 50; i++) {
        assertThat(receive(socket)).as("answer %d", i).contains(i % 3 == 0 ? " 429 " : " 200 ");
      }
    }
  }

  @Test
  void requestInTwoPieces_isAnsweredWhereverItIsCut() throws Exception {
    try (Socket socket = connect()) {
      String whole = request("", "never", "cut");
      String expected = ask(socket, whole);
      for (int cut = 1; cut < whole.length(); cut++) {
        send(socket, whole + whole.substring(0, cut));
        assertThat(receive(socket)).isEqualTo(expected);
        send(socket, whole.substring(cut));
        assertThat(receive(socket)).as("cut at %d", cut).isEqualTo(expected);
      }
    }
  }

  @Test
  void requestsOfTheShortWay_areCounted() throws Exception {
    String series = "weir_request_seconds_count{protocol=\"http\"}";
    long before = running.metric(series);
    try (Socket socket = connect()) {
      for (int i = 0; i < 10; i++) {
        ask(socket, request("", "bucket", "counted" + i));
      }
    }
    assertThat(running.metric(series)).isEqualTo(before + 10);
  }

  @Test
  void badRequestAfterGoodOnes_isRefusedAfterTheirAnswers() throws Exception {
    try (Socket socket = connect()) {
      send(socket, request("", "bucket", "good") + "POST /json HTTP/1.1\r\nno field\r\n\r\n");
      assertThat(receive(socket)).contains(" 200 OK");
      assertThat(receive(socket)).contains(" 400 ");
    }
  }
}
