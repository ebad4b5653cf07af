package dev.weir.server.internal.grpc;

import static dev.weir.wire.testkit.Http2Frames.DATA;
import static dev.weir.wire.testkit.Http2Frames.END_HEADERS;
import static dev.weir.wire.testkit.Http2Frames.END_STREAM;
import static dev.weir.wire.testkit.Http2Frames.HEADERS;
import static dev.weir.wire.testkit.Http2Frames.PING;
import static dev.weir.wire.testkit.Http2Frames.RST_STREAM;
import static dev.weir.wire.testkit.Http2Frames.SETTINGS;
import static dev.weir.wire.testkit.Http2Frames.WINDOW_UPDATE;
import static dev.weir.wire.testkit.Http2Frames.frame;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.server.RunningServer;
import dev.weir.wire.testkit.Http2Client;
import dev.weir.wire.testkit.Http2Frames;
import java.io.ByteArrayOutputStream;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a breach of HTTP/2 ends the stream or the connection with the code of RFC 9113, also
 * on a connection whose calls are answered ahead of grpc-java, and while one is held.
 */
class Http2RulesTest {
  private static final int PROTOCOL_ERROR = 1;
  private static final int FLOW_CONTROL_ERROR = 3;
  private static final int STREAM_CLOSED = 5;
  private static final int FRAME_SIZE_ERROR = 6;
  private static final int COMPRESSION_ERROR = 9;
  private static final int ENHANCE_YOUR_CALM = 11;
  private static final int CLOSED = -1;
  private static final int CONTINUATION = 9;

  private static final byte[] LARGEST = {127, -1, -1, -1};

  /**
   * One breach of the rules.
   *
   * @param section of RFC 9113
   * @param codes the codes, one of which is expected
   */
  @SuppressWarnings("ArrayRecordComponent") // It is not compared.
  record Breach(String section, byte[] frames, List<Integer> codes) {
    Breach(String section, byte[] frames, Integer... codes) {
      this(section, frames, List.of(codes));
    }

    @Override
    public String toString() {
      return section;
    }
  }

  @TempDir private static Path folder;
  private static RunningServer running;

  @BeforeAll
  static void start() throws Exception {
    running = RunningServer.start(folder, "request-timeout", "1h");
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  private static byte[] message() {
    return RateLimitRequest.newBuilder()
        .setDomain("test")
        .addDescriptors(
            RateLimitDescriptor.newBuilder()
                .addEntries(
                    RateLimitDescriptor.Entry.newBuilder().setKey("never").setValue("rules")))
        .build()
        .toByteArray();
  }

  private static Http2Client served() throws Exception {
    Http2Client client = Http2Client.open(running.server.grpcPort());
    for (int stream = 1; stream < 5; stream += 2) {
      client.send(Http2Client.head(stream), Http2Client.body(stream, message()));
      assertThat(client.answer(stream).trailers()).containsEntry("grpc-status", "0");
    }
    return client;
  }

  private static byte[] all(byte[]... frames) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] each : frames) {
      all.writeBytes(each);
    }
    return all.toByteArray();
  }

  static Stream<Breach> breaches() {
    byte[] block = Http2Frames.headers(Http2Client.PATH);
    byte[] upper = Http2Frames.headers(Http2Client.PATH, "X-Upper", "x");
    return Stream.of(
        new Breach(
            "4.2 longer than the largest frame",
            frame(DATA, 0, 5, new byte[16_385]),
            FRAME_SIZE_ERROR),
        new Breach(
            "4.3 fields that cannot be decoded",
            frame(HEADERS, END_HEADERS, 7, new byte[] {-1, -1, -1, -1, -1, -1}),
            COMPRESSION_ERROR),
        new Breach(
            "5.1 DATA on an idle stream", frame(DATA, END_STREAM, 99, new byte[5]), PROTOCOL_ERROR),
        new Breach(
            "5.1 RST_STREAM on an idle stream",
            frame(RST_STREAM, 0, 99, new byte[4]),
            PROTOCOL_ERROR),
        new Breach(
            "5.1 WINDOW_UPDATE on an idle stream",
            frame(WINDOW_UPDATE, 0, 99, new byte[] {0, 0, 0, 1}),
            PROTOCOL_ERROR),
        new Breach(
            "5.1 DATA on a closed stream",
            all(frame(DATA, END_STREAM, 3, new byte[5])),
            STREAM_CLOSED,
            PROTOCOL_ERROR),
        new Breach(
            "5.1 DATA behind the last",
            all(Http2Client.body(5, message()), frame(DATA, END_STREAM, 5, new byte[5])),
            STREAM_CLOSED,
            PROTOCOL_ERROR),
        new Breach("5.1.1 an even stream", frame(HEADERS, END_HEADERS, 8, block), PROTOCOL_ERROR),
        new Breach(
            "5.1.1 an earlier stream",
            all(Http2Client.head(99), Http2Client.head(7)),
            PROTOCOL_ERROR,
            STREAM_CLOSED),
        new Breach("6.1 DATA on the connection", frame(DATA, 0, 0, new byte[5]), PROTOCOL_ERROR),
        new Breach(
            "6.1 more padding than payload",
            frame(DATA, 8, 5, new byte[] {9, 0, 0}),
            PROTOCOL_ERROR),
        new Breach(
            "6.2 HEADERS on the connection", frame(HEADERS, END_HEADERS, 0, block), PROTOCOL_ERROR),
        new Breach(
            "6.2 another frame within fields",
            all(frame(HEADERS, 0, 7, block), frame(PING, 0, 0, new byte[8])),
            PROTOCOL_ERROR),
        new Breach(
            "6.4 RST_STREAM of another length",
            frame(RST_STREAM, 0, 5, new byte[3]),
            FRAME_SIZE_ERROR),
        new Breach("6.5 SETTINGS of a stream", frame(SETTINGS, 0, 5, new byte[0]), PROTOCOL_ERROR),
        new Breach(
            "6.5 SETTINGS of another length", frame(SETTINGS, 0, 0, new byte[5]), FRAME_SIZE_ERROR),
        new Breach(
            "6.5.2 too large a window",
            frame(SETTINGS, 0, 0, new byte[] {0, 4, -128, 0, 0, 0}),
            FLOW_CONTROL_ERROR,
            PROTOCOL_ERROR),
        new Breach("6.7 PING of another length", frame(PING, 0, 0, new byte[7]), FRAME_SIZE_ERROR),
        new Breach(
            "6.9 WINDOW_UPDATE of nothing",
            frame(WINDOW_UPDATE, 0, 0, new byte[4]),
            PROTOCOL_ERROR),
        new Breach(
            "6.9.1 too large a window of the connection",
            frame(WINDOW_UPDATE, 0, 0, LARGEST),
            FLOW_CONTROL_ERROR),
        new Breach(
            "6.9.1 too large a window of a stream",
            frame(WINDOW_UPDATE, 0, 5, LARGEST),
            FLOW_CONTROL_ERROR),
        new Breach(
            "6.10 CONTINUATION of nothing",
            frame(CONTINUATION, END_HEADERS, 5, block),
            PROTOCOL_ERROR),
        new Breach("8.2 a name in capitals", frame(HEADERS, END_HEADERS, 7, upper), PROTOCOL_ERROR),
        new Breach(
            "8.1 fields in the middle of a call",
            all(frame(HEADERS, END_HEADERS, 5, block)),
            PROTOCOL_ERROR));
  }

  @ParameterizedTest
  @MethodSource("breaches")
  void breach_isAnsweredByItsCode(Breach breach) throws Exception {
    try (Http2Client client = served()) {
      client.send(Http2Client.head(5), breach.frames);
      assertThat(client.ended()).isIn(breach.codes);
    }
    try (Http2Client other = served()) {
      assertThat(other.isAnswered(3)).isTrue();
    }
  }

  @Test
  void otherPreface_isRefused() throws Exception {
    try (Http2Client client = new Http2Client(running.server.grpcPort())) {
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      assertThat(client.ended()).isIn(PROTOCOL_ERROR, CLOSED);
    }
  }

  @Test
  void continuationsWithoutEnd_endTheConnection() throws Exception {
    try (Http2Client client = served()) {
      ByteArrayOutputStream flood = new ByteArrayOutputStream();
      flood.writeBytes(frame(HEADERS, 0, 5, Http2Frames.headers(Http2Client.PATH)));
      for (int i = 0; i < 10_000; i++) {
        flood.writeBytes(frame(CONTINUATION, 0, 5, new byte[0]));
      }
      assertEnded(client, flood.toByteArray());
    }
  }

  @Test
  void fieldsWithoutEnd_endTheConnectionOrTheStream() throws Exception {
    try (Http2Client client = served()) {
      ByteArrayOutputStream flood = new ByteArrayOutputStream();
      flood.writeBytes(frame(HEADERS, 0, 5, Http2Frames.headers(Http2Client.PATH)));
      byte[] field = Http2Frames.headers(Http2Client.PATH, "x-large", "x".repeat(1_000));
      byte[] large = Arrays.copyOfRange(field, field.length - 1_012, field.length);
      for (int i = 0; i < 1_000; i++) {
        flood.writeBytes(frame(CONTINUATION, 0, 5, large));
      }
      assertEnded(client, flood.toByteArray());
    }
  }

  @Test
  void resetsOfHeldCalls_endTheConnection() throws Exception {
    try (Http2Client client = served()) {
      ByteArrayOutputStream flood = new ByteArrayOutputStream();
      for (int stream = 5; stream < 4_000; stream += 2) {
        flood.writeBytes(Http2Client.head(stream));
        flood.writeBytes(frame(RST_STREAM, 0, stream, new byte[] {0, 0, 0, 8}));
      }
      assertEnded(client, flood.toByteArray());
    }
  }

  private static void assertEnded(Http2Client client, byte[] flood) throws Exception {
    try {
      client.send(flood);
    } catch (SocketException e) {
      assertThat(e).hasMessageNotContaining("timed out"); // Closed before all of it was sent.
    }
    assertThat(client.ended()).isIn(CLOSED, PROTOCOL_ERROR, COMPRESSION_ERROR, ENHANCE_YOUR_CALM);
    try (Http2Client other = served()) {
      assertThat(other.isAnswered(3)).isTrue();
    }
  }
}
