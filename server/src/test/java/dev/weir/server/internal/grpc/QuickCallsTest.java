package dev.weir.server.internal.grpc;

import static dev.weir.wire.testkit.Http2Frames.DATA;
import static dev.weir.wire.testkit.Http2Frames.END_HEADERS;
import static dev.weir.wire.testkit.Http2Frames.END_STREAM;
import static dev.weir.wire.testkit.Http2Frames.HEADERS;
import static dev.weir.wire.testkit.Http2Frames.PING;
import static dev.weir.wire.testkit.Http2Frames.PREFACE;
import static dev.weir.wire.testkit.Http2Frames.RST_STREAM;
import static dev.weir.wire.testkit.Http2Frames.SETTINGS;
import static dev.weir.wire.testkit.Http2Frames.WINDOW_UPDATE;
import static dev.weir.wire.testkit.Http2Frames.frame;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.UInt64Value;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.server.RunningServer;
import dev.weir.testkit.Trials;
import dev.weir.wire.testkit.Http2Client;
import dev.weir.wire.testkit.Http2Client.Answer;
import dev.weir.wire.testkit.Http2Frames;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that compare calls answered ahead of grpc-java with those that it answers, frame by frame.
 */
class QuickCallsTest {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: bucket
          rate_limit: {unit: year, requests_per_unit: 3, algorithm: token-bucket, name: a}
        - key: log
          rate_limit: {unit: year, requests_per_unit: 2}
        - key: many
          rate_limit: {unit: year, requests_per_unit: 100000, name: "\u20ac"}
        - key: never
          rate_limit: {unit: hour, requests_per_unit: 0}
        - key: queue
          rate_limit: {unit: year, requests_per_unit: 2, on_limit: {queue: {requests: 1, wait: 1ms}}}
        - key: watched
          shadow_mode: true
          rate_limit: {unit: year, requests_per_unit: 1}
        - key: free
          rate_limit: {unlimited: true}
      """;

  private static final String[] KEYS = {
    "bucket", "log", "many", "never", "queue", "watched", "free", "unknown"
  };

  /** A field that sends a call on the general path, and changes nothing else. */
  private static final String[] LONG_WAY = {"grpc-encoding", "gzip"};

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

  private static Http2Client connect(int... settings) throws Exception {
    return Http2Client.open(running.server.grpcPort(), settings);
  }

  private static RateLimitRequest.Builder request(String key, String value) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain("test");
    request
        .addDescriptorsBuilder()
        .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value));
    return request;
  }

  private static byte[] message(String key, String value) {
    return request(key, value).build().toByteArray();
  }

  private static byte[] call(int stream, byte[] message, String... more) {
    byte[] head = Http2Client.head(stream, more);
    byte[] body = Http2Client.body(stream, message);
    return ByteBuffer.allocate(head.length + body.length).put(head).put(body).array();
  }

  private static Answer request(Http2Client client, int stream, byte[] message, String... more)
      throws Exception {
    client.send(call(stream, message, more));
    return client.answer(stream);
  }

  /** Returns a client after one call: the fields of the first answer are written by the library. */
  private static Http2Client warm() throws Exception {
    Http2Client client = connect();
    request(client, 1, message("many", "first"));
    return client;
  }

  /** Asserts equal answers. Times until a reset may differ by the time between the two calls. */
  private static void assertSame(Answer quick, Answer slow) throws Exception {
    assertThat(quick.fields()).isEqualTo(slow.fields());
    assertThat(quick.trailers()).isEqualTo(slow.trailers());
    assertThat(quick.message().hasRemaining()).isEqualTo(slow.message().hasRemaining());
    if (quick.message().hasRemaining()) {
      byte[] asGenerated = Http2Frames.message(response(quick).toByteArray());
      assertThat(quick.message()).isEqualTo(ByteBuffer.wrap(asGenerated));
      assertThat(withoutTimes(quick)).isEqualTo(withoutTimes(slow));
      for (int i = 0; i < response(quick).getStatusesCount(); i++) {
        assertThat(secondsUntilReset(quick, i))
            .isCloseTo(secondsUntilReset(slow, i), Offset.offset(600L));
      }
    }
  }

  private static long secondsUntilReset(Answer answer, int status) throws Exception {
    return response(answer).getStatuses(status).getDurationUntilReset().getSeconds();
  }

  private static RateLimitResponse withoutTimes(Answer answer) throws Exception {
    RateLimitResponse.Builder response = response(answer).toBuilder();
    response.getStatusesBuilderList().forEach(each -> each.clearDurationUntilReset());
    return response.build();
  }

  @ParameterizedTest
  @CsvSource({
    "bucket, true",
    "log, true",
    "many, true",
    "never, true",
    "queue, false",
    "watched, false",
    "free, false",
    "unknown, false"
  })
  void shortAndLongWay_haveTheSameAnswers(String key, boolean taken) throws Exception {
    try (Http2Client client = warm()) {
      for (int i = 0; i < 5; i++) {
        Answer quick = request(client, 3 + 4 * i, message(key, "quick"));
        Answer slow = request(client, 5 + 4 * i, message(key, "slow"), LONG_WAY);
        assertThat(quick.literal()).isEqualTo(taken);
        assertThat(slow.literal()).isFalse();
        assertThat(quick.fields()).containsEntry(":status", "200");
        assertThat(quick.trailers()).isEqualTo(Map.of("grpc-status", "0"));
        assertSame(quick, slow);
      }
    }
  }

  @Test
  void randomRequests_haveTheSameAnswersBothWays() throws Exception {
    int runs = 750;
    SplittableRandom random = Trials.random("quick calls", runs);
    try (Http2Client client = warm()) {
      for (int stream = 3; stream < 4 * runs; stream += 4) {
        String key = KEYS[random.nextInt(KEYS.length)];
        String value = "r" + random.nextInt(5);
        RateLimitRequest.Builder quick = request(key, value + "quick");
        RateLimitRequest.Builder slow = request(key, value + "slow");
        for (RateLimitRequest.Builder each : List.of(quick, slow)) {
          SplittableRandom same = new SplittableRandom(stream);
          if (same.nextInt(3) == 0) {
            each.setHitsAddend(same.nextInt(4));
          }
          if (same.nextInt(10) == 0) {
            each.getDescriptorsBuilder(0).setHitsAddend(UInt64Value.of(same.nextInt(3)));
          }
          if (same.nextInt(10) == 0) {
            each.addDescriptors(each.getDescriptors(0));
          }
          if (same.nextInt(20) == 0) {
            each.setDomain(same.nextBoolean() ? "" : "other");
          }
        }
        assertSame(
            request(client, stream, quick.build().toByteArray()),
            request(client, stream + 2, slow.build().toByteArray(), LONG_WAY));
      }
    }
  }

  @Test
  void bothWays_countForTheSameKey() throws Exception {
    try (Http2Client client = warm()) {
      for (int i = 0; i < 5; i++) {
        String[] way = i % 2 == 0 ? new String[0] : LONG_WAY;
        Answer answer = request(client, 3 + 2 * i, message("bucket", "both"), way);
        assertThat(response(answer).getOverallCode())
            .isEqualTo(i < 3 ? RateLimitResponse.Code.OK : RateLimitResponse.Code.OVER_LIMIT);
      }
    }
  }

  private static RateLimitResponse response(Answer answer) throws Exception {
    return RateLimitResponse.parseFrom(answer.message().slice(5, answer.message().limit() - 5));
  }

  @Test
  void callsOfTheShortWay_areCounted() throws Exception {
    String series = "weir_request_seconds_count{protocol=\"grpc\"}";
    try (Http2Client client = warm()) {
      long before = running.metric(series);
      for (int i = 0; i < 10; i++) {
        assertThat(request(client, 3 + 2 * i, message("bucket", "c" + i)).literal()).isTrue();
      }
      assertThat(running.metric(series)).isEqualTo(before + 10);
    }
  }

  @Test
  void callInTwoPieces_isAnsweredWhereverItIsCut() throws Exception {
    try (Http2Client client = warm()) {
      ByteBuffer expected = request(client, 3, message("never", "cut")).message();
      int length = call(3, message("never", "cut")).length;
      for (int cut = 1; cut < length; cut++) {
        int stream = 1 + 4 * cut;
        byte[] before = call(stream, message("never", "cut"));
        byte[] whole = call(stream + 2, message("never", "cut"));
        client.send(before, Arrays.copyOf(whole, cut));
        assertThat(client.answer(stream).message()).isEqualTo(expected);
        client.send(Arrays.copyOfRange(whole, cut, length));
        assertThat(client.answer(stream + 2).message()).as("cut at %d", cut).isEqualTo(expected);
      }
    }
  }

  @Test
  void manyCallsInOneRead_areAllAnswered_inWhateverOrderTheirMessagesCome() throws Exception {
    int runs = 50;
    SplittableRandom random = Trials.random("orders of messages", runs);
    try (Http2Client client = warm()) {
      int next = 3;
      for (int trial = 0; trial < runs; trial++) {
        List<byte[]> frames = new ArrayList<>();
        List<Integer> waiting = new ArrayList<>();
        int first = next;
        int last = first + 2 * random.nextInt(60);
        while (next <= last || !waiting.isEmpty()) {
          if (next <= last && (waiting.isEmpty() || random.nextBoolean())) {
            frames.add(Http2Client.head(next, random.nextInt(5) == 0 ? LONG_WAY : new String[0]));
            waiting.add(next);
            next += 2;
          } else {
            int stream = waiting.remove(random.nextInt(waiting.size()));
            String key = KEYS[random.nextInt(3)];
            frames.add(Http2Client.body(stream, message(key, "o" + stream)));
          }
        }
        client.send(frames.toArray(new byte[0][]));
        for (int stream = first; stream <= last; stream += 2) {
          assertThat(response(client.answer(stream)).getOverallCode())
              .isEqualTo(RateLimitResponse.Code.OK);
        }
      }
    }
  }

  @Test
  void otherFramesOfACall_areHandledInTheirOrder() throws Exception {
    try (Http2Client client = warm()) {
      byte[] message = Http2Frames.message(message("bucket", "pieces"));
      byte[] begin = Arrays.copyOf(message, 7);
      byte[] end = Arrays.copyOfRange(message, 7, message.length);
      client.send(
          Http2Client.head(3),
          Http2Client.head(5),
          frame(RST_STREAM, 0, 3, new byte[] {0, 0, 0, 8}),
          frame(DATA, 0, 5, begin),
          Http2Client.head(7),
          frame(WINDOW_UPDATE, 0, 7, new byte[] {0, 0, 0, 9}),
          frame(PING, 0, 0, new byte[8]),
          frame(DATA, END_STREAM, 5, end),
          Http2Client.body(7, message("bucket", "window")));
      assertThat(response(client.answer(5)).getStatuses(0).getLimitRemaining()).isEqualTo(2);
      assertThat(response(client.answer(7)).getStatuses(0).getLimitRemaining()).isEqualTo(2);
      client.settle();
      assertThat(client.isAnswered(3)).isFalse();
      Answer empty = request(client, 9, new byte[0]);
      assertThat(empty.trailers())
          .containsEntry("grpc-status", "2")
          .containsEntry("grpc-message", "rate limit domain must not be empty");
    }
  }

  @Test
  void headersThatEndTheStream_areAnsweredAsByTheLongWay() throws Exception {
    try (Http2Client client = warm()) {
      byte[] block = Http2Frames.headers(Http2Client.PATH);
      client.send(frame(HEADERS, END_HEADERS | END_STREAM, 3, block));
      byte[] slow = Http2Frames.headers(Http2Client.PATH, LONG_WAY);
      client.send(frame(HEADERS, END_HEADERS | END_STREAM, 5, slow));
      assertSame(client.answer(3), client.answer(5));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1n",
        "999999n",
        "999u",
        "0S",
        "00000000H",
        "123456789S",
        "S",
        "",
        "1",
        "-1S",
        "1s",
        "1.5S"
      })
  void deadlineThatIsUnusual_goesTheLongWay(String timeout) {
    assertThat(QuickCalls.lasts(timeout)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"1m", "20m", "5S", "99999999H", "00000001M", "1000u", "10000000u", "1000000n"})
  void usualDeadline_goesTheShortWay(String timeout) throws Exception {
    try (Http2Client client = warm()) {
      Answer answer =
          request(
              client,
              3,
              message("many", "deadline"),
              "grpc-timeout",
              timeout,
              "x-envoy-internal",
              "true",
              "user-agent",
              "envoy",
              "grpc-encoding",
              "identity");
      assertThat(answer.literal()).isTrue();
    }
  }

  @Test
  void answers_waitForTheClientsWindow() throws Exception {
    int runs = 50;
    SplittableRandom random = Trials.random("windows", runs);
    ByteBuffer expected;
    try (Http2Client client = warm()) {
      expected = request(client, 3, message("never", "window")).message();
    }
    try (Http2Client client = connect(Http2Client.INITIAL_WINDOW_SIZE, 0)) {
      for (int stream = 1; stream < 2 * runs; stream += 2) {
        client.send(call(stream, message("never", "window")));
        int granted = client.dataBytes();
        while (!client.isAnswered(stream)) {
          client.settle();
          assertThat(client.dataBytes()).isEqualTo(granted);
          int more = 1 + random.nextInt(expected.limit());
          client.send(window(stream, more));
          granted = Math.min(granted + more, expected.limit() * (stream + 1) / 2);
          client.awaitData(granted);
          if (granted == expected.limit() * (stream + 1) / 2) {
            client.answer(stream);
          }
        }
        assertThat(client.answer(stream).message()).isEqualTo(expected);
        assertThat(client.answer(stream).trailers()).isEqualTo(Map.of("grpc-status", "0"));
      }
    }
  }

  @Test
  void changedTable_isConfirmedInTheNextFields() throws Exception {
    int runs = 30;
    SplittableRandom random = Trials.random("tables", runs);
    try (Http2Client client = warm()) {
      int stream = 3;
      for (int trial = 0; trial < runs; trial++) {
        // The decoder refuses fields that do not begin with the new size, if they must.
        client.settings(Http2Client.HEADER_TABLE_SIZE, random.nextInt(5) * 100);
        for (int i = random.nextInt(4); i >= 0; i--) {
          String[] way = random.nextInt(3) > 0 ? new String[0] : LONG_WAY;
          client.send(
              call(stream, message("many", "t")), call(stream + 2, message("many", "t"), way));
          assertThat(client.answer(stream).fields()).containsEntry(":status", "200");
          assertThat(client.answer(stream + 2).fields()).containsEntry(":status", "200");
          stream += 4;
        }
      }
    }
  }

  @Test
  void tableThatChangesWhileAnAnswerWaits_isConfirmedInItsTrailers() throws Exception {
    byte[] message = message("many", "waits");
    try (Http2Client client = connect(Http2Client.INITIAL_WINDOW_SIZE, 10)) {
      for (int stream = 1; stream < 41; stream += 4) {
        client.settings(Http2Client.INITIAL_WINDOW_SIZE, 10);
        int before = client.dataBytes();
        client.send(call(stream, message), call(stream + 2, message));
        client.awaitData(before + 20);
        client.settings(Http2Client.HEADER_TABLE_SIZE, stream % 8 == 1 ? 0 : 4_096);
        client.settle();
        if (stream % 3 == 0) {
          client.settings(Http2Client.INITIAL_WINDOW_SIZE, 1_000);
        } else {
          client.send(window(stream, 1_000), window(stream + 2, 1_000));
        }
        assertThat(client.answer(stream).trailers()).isEqualTo(Map.of("grpc-status", "0"));
        assertThat(client.answer(stream + 2).trailers()).isEqualTo(Map.of("grpc-status", "0"));
        assertThat(client.answer(stream + 2).message().limit()).isGreaterThan(10);
      }
    }
  }

  @Test
  void tableAndWindowThatChangeAtOnce_areConfirmedInTheFirstFields() throws Exception {
    byte[] message = message("many", "at once");
    try (Http2Client client = connect()) {
      for (int stream = 1; stream < 61; stream += 6) {
        client.settings(Http2Client.INITIAL_WINDOW_SIZE, 0);
        client.settle();
        client.send(call(stream, message), call(stream + 2, message), call(stream + 4, message));
        client.settle();
        client.send(window(stream, 1_000));
        assertThat(client.answer(stream).trailers()).isEqualTo(Map.of("grpc-status", "0"));
        int table = stream % 12 == 1 ? 0 : 4_096;
        client.settings(
            Http2Client.HEADER_TABLE_SIZE, table, Http2Client.INITIAL_WINDOW_SIZE, 1_000);
        assertThat(client.answer(stream + 2).trailers()).isEqualTo(Map.of("grpc-status", "0"));
        assertThat(client.answer(stream + 4).trailers()).isEqualTo(Map.of("grpc-status", "0"));
      }
    }
  }

  private static byte[] window(int stream, int more) {
    return frame(WINDOW_UPDATE, 0, stream, ByteBuffer.allocate(4).putInt(more).array());
  }

  @Test
  void pingsBetweenAnswers_areForgiven_andOthersAreNot() throws Exception {
    try (Http2Client client = warm()) {
      int stream = 3;
      for (int i = 0; i < 20; i++) {
        client.ping();
        for (int more = 0; more < 2; more++) {
          assertThat(request(client, stream, message("many", "ping")).trailers()).isNotEmpty();
          stream += 2;
        }
      }
      byte[][] pings = new byte[20][];
      Arrays.fill(pings, frame(PING, 0, 0, new byte[8]));
      client.send(pings); // In one write: after some of them the server closes the connection.
      assertThat(client.ended()).isEqualTo(11); // ENHANCE_YOUR_CALM
    }
  }

  @Test
  void moreCallsThanAreHeld_areAllAnswered() throws Exception {
    try (Http2Client client = warm()) {
      List<byte[]> frames = new ArrayList<>();
      for (int stream = 3; stream < 1_003; stream += 2) {
        frames.add(Http2Client.head(stream));
      }
      for (int stream = 3; stream < 1_003; stream += 2) {
        frames.add(Http2Client.body(stream, message("many", "held")));
      }
      client.send(frames.toArray(new byte[0][]));
      for (int stream = 3; stream < 1_003; stream += 2) {
        assertThat(client.answer(stream).trailers()).containsEntry("grpc-status", "0");
      }
    }
  }

  @Test
  void firstFramesOfAConnection_areAnsweredTogether() throws Exception {
    try (Http2Client client = new Http2Client(running.server.grpcPort())) {
      client.send(PREFACE, frame(SETTINGS, 0, 0, new byte[0]), call(1, message("log", "at once")));
      assertThat(response(client.answer(1)).getOverallCode()).isEqualTo(RateLimitResponse.Code.OK);
    }
  }
}
