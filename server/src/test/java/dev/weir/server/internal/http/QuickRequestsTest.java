package dev.weir.server.internal.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.rules.Rules;
import dev.weir.server.internal.access.Certificates;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.EventLoops;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that compare requests answered before the codec with those that are not. */
class QuickRequestsTest {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: bucket
          rate_limit: {unit: year, requests_per_unit: 3, algorithm: token-bucket, name: a}
        - key: log
          rate_limit: {unit: year, requests_per_unit: 2}
        - key: fixed
          rate_limit: {window: 1500ms, requests_per_unit: 3, algorithm: fixed-window, name: 'a "b"'}
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

  /** A field that no quick path takes, and that changes nothing else. */
  private static final String LONG_WAY = "X-Name: \u00e9\r\n";

  /** A clock that stands still: all numbers in an answer are the same each time. */
  private static final FakeTicker TICKER = new FakeTicker(1_234_567_890_123_456_789L);

  private static final DoorCounters COUNTERS =
      new DoorCounters(1_000, PendingBytes.of(ServerSettings.defaults(), TICKER));

  private static Engine engine;
  private static EventLoops loops;
  private static HttpDoor door;

  @BeforeAll
  static void start() throws Exception {
    ServerSettings settings = ServerSettings.of(Map.of("port", "0", "older-fields", "github"));
    engine = Engine.create(new MemoryStore(), TICKER, EngineSettings.DEFAULTS);
    engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", RULES).ruleSet()));
    loops = EventLoops.start(settings, TICKER);
    Endpoints endpoints =
        new Endpoints(
            new GuardedDecider(engine, SystemLoad.of(settings, TICKER), TICKER),
            settings,
            () -> "",
            new PrometheusRegistry(),
            new RequestTimes(COUNTERS.times(), TICKER),
            Tracing.OFF);
    Tokens tokens = Tokens.notRequired();
    door = HttpDoor.open(settings, loops, endpoints, Certificates.NONE, tokens, COUNTERS, TICKER);
  }

  @AfterAll
  static void stop() throws Exception {
    door.shut(Duration.ZERO);
    door.close(Duration.ZERO);
    loops.close();
    engine.close();
  }

  private static String request(String field, String key, String value) {
    return request("/json", field, 1, key, value);
  }

  private static String request(String path, String field, int permits, String key, String value) {
    String number = path.equals("/json") ? "hits_addend" : "permits";
    String body =
        "{\"domain\":\"test\",\"%s\":%d,\"descriptors\":[{\"entries\":[{\"key\":\"%s\",\"value\":\"%s\"}]}]}"
            .formatted(number, permits, key, value);
    return "POST %s HTTP/1.1\r\nHost: a\r\n%sContent-Length: %d\r\n\r\n%s"
        .formatted(path, field, body.length(), body);
  }

  private static Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), door.port());
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

  private static String request(Socket socket, String text) throws IOException {
    send(socket, text);
    return receive(socket);
  }

  @ParameterizedTest
  @CsvSource({
    "/json, bucket",
    "/json, log",
    "/json, fixed",
    "/json, never",
    "/json, odd",
    "/json, watched",
    "/json, free",
    "/json, unknown",
    "/v1/check, bucket",
    "/v1/check, log",
    "/v1/check, fixed",
    "/v1/check, never",
    "/v1/check, odd",
    "/v1/check, watched",
    "/v1/check, free",
    "/v1/check, unknown"
  })
  void shortAndLongWay_haveTheSameAnswers(String path, String key) throws Exception {
    try (Socket socket = connect()) {
      for (int permits : new int[] {1, 0, 9, 1, 1, 1, 1}) {
        String quick = request(socket, request(path, "", permits, key, path + "quick"));
        String slow = request(socket, request(path, LONG_WAY, permits, key, path + "slow"));
        assertThat(quick).startsWith("HTTP/1.1 ").isEqualTo(slow);
      }
    }
  }

  @Test
  void requestThatFailsOnceItIsCharged_isNotChargedAgain() throws Exception {
    try (Socket socket = connect()) {
      engine.observe(
          decided -> {
            throw new IllegalStateException("an observer that throws, as it must not");
          });
      assertThat(request(socket, request("", "bucket", "failed")))
          .startsWith("HTTP/1.1 500 Internal Server Error\r\n")
          .contains("\r\nContent-Type: application/problem+json\r\n", "\"status\":500");
      engine.observe(decided -> {});
      assertThat(request(socket, request("", "bucket", "failed"))).contains("\"limitRemaining\":1");
    }
  }

  @Test
  void bothWays_countForTheSameKey() throws Exception {
    try (Socket socket = connect()) {
      assertThat(request(socket, request("", "bucket", "both")))
          .contains(" 200 OK", "\"limitRemaining\":2");
      assertThat(request(socket, request(LONG_WAY, "bucket", "both")))
          .contains("\"limitRemaining\":1");
      assertThat(request(socket, request("", "bucket", "both"))).contains(" 200 OK");
      assertThat(request(socket, request(LONG_WAY, "bucket", "both"))).contains(" 429 ");
      assertThat(request(socket, request("", "bucket", "both")))
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
      String expected = request(socket, whole);
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
    long before = counted();
    try (Socket socket = connect()) {
      for (int i = 0; i < 10; i++) {
        request(socket, request("", "bucket", "counted" + i));
      }
    }
    assertThat(counted()).isEqualTo(before + 10);
  }

  private static long counted() {
    return COUNTERS.times().counts().stream().mapToLong(Long::longValue).sum();
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
