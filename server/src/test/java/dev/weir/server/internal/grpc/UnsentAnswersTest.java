package dev.weir.server.internal.grpc;

import static dev.weir.wire.testkit.Http2Frames.DATA;
import static dev.weir.wire.testkit.Http2Frames.END_HEADERS;
import static dev.weir.wire.testkit.Http2Frames.END_STREAM;
import static dev.weir.wire.testkit.Http2Frames.HEADERS;
import static dev.weir.wire.testkit.Http2Frames.RST_STREAM;
import static dev.weir.wire.testkit.Http2Frames.WINDOW_UPDATE;
import static dev.weir.wire.testkit.Http2Frames.frame;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.CheckBatchRequest;
import dev.weir.protocol.v1.WeirProto.Descriptor;
import dev.weir.protocol.v1.WeirProto.Entry;
import dev.weir.server.Retried;
import dev.weir.server.RunningServer;
import dev.weir.wire.testkit.Http2Client;
import dev.weir.wire.testkit.Http2Frames;
import java.io.ByteArrayOutputStream;
import java.net.SocketException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of answers on many streams of one connection, whose client has no room for them. They count
 * in {@code --max-pending-memory}, however small each is, until they are sent or their streams end.
 */
class UnsentAnswersTest {
  private static final String STREAM = "/weir.v1.Weir/CheckStream";
  private static final int STREAMS = 100;

  /** The messages on each stream. */
  private static final int MESSAGES = 8;

  /**
   * The checks in each message; all answers of a stream together are below the bytes that it may
   * send in advance.
   */
  private static final int CHECKS = 50;

  private static final int ENHANCE_YOUR_CALM = 11;
  private static final int CLOSED = -1;
  private static final byte[] CANCEL = {0, 0, 0, 8};
  private static final byte[] MUCH = {127, 0, 0, 0};

  @TempDir private Path folder;

  private RunningServer server(String budget) throws Exception {
    return server(budget, "1h");
  }

  private RunningServer server(String budget, String requestTimeout) throws Exception {
    return RunningServer.start(
        folder, "max-pending-memory", budget, "request-timeout", requestTimeout);
  }

  /** Returns a client that has no room for answers. */
  private static Http2Client client(RunningServer running) throws Exception {
    Http2Client client =
        Http2Client.open(running.server.grpcPort(), Http2Client.INITIAL_WINDOW_SIZE, 0);
    settle(client);
    return client;
  }

  /** Waits until all sent bytes have been processed, and counted. */
  private static void settle(Http2Client client) throws Exception {
    client.settle();
    client.ping(); // It is read in a later turn of the loop.
  }

  private static byte[] message(int checks) {
    CheckBatchRequest.Builder request = CheckBatchRequest.newBuilder();
    Entry entry = Entry.newBuilder().setKey("free").setValue("t").build();
    Descriptor descriptor = Descriptor.newBuilder().addEntries(entry).build();
    for (int i = 0; i < checks; i++) {
      request.addChecks(Check.newBuilder().setDomain("test").addDescriptors(descriptor));
    }
    return request.build().toByteArray();
  }

  private static byte[] head(int stream, String path) {
    return frame(HEADERS, END_HEADERS, stream, Http2Frames.headers(path));
  }

  /** Returns a stream of messages that the client does not end. */
  private static byte[] stream(int stream, int messages, int checks) {
    byte[] message = Http2Frames.message(message(checks));
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(head(stream, STREAM));
    for (int i = 0; i < messages; i++) {
      all.writeBytes(frame(DATA, 0, stream, message));
    }
    return all.toByteArray();
  }

  private static byte[] quick(int stream) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain("test");
    request
        .addDescriptorsBuilder()
        .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey("tenant").setValue("t"));
    ByteArrayOutputStream call = new ByteArrayOutputStream();
    call.writeBytes(Http2Client.head(stream));
    call.writeBytes(Http2Client.body(stream, request.build().toByteArray()));
    return call.toByteArray();
  }

  private static long pending(RunningServer running) throws Exception {
    return running.metric("weir_pending_bytes");
  }

  @Test
  void answersOfStreams_countUntilTheyAreSent() throws Exception {
    long answers = (long) STREAMS * MESSAGES * answerBytes(CHECKS);
    try (RunningServer running = server("64m");
        Http2Client client = client(running)) {
      for (int i = 0; i < STREAMS; i++) {
        client.send(stream(1 + 2 * i, MESSAGES, CHECKS));
      }
      settle(client);
      assertThat(pending(running)).isBetween(answers, 3 * answers);
      for (int i = 0; i < STREAMS; i++) {
        client.send(frame(DATA, END_STREAM, 1 + 2 * i, new byte[0]));
      }
      client.send(frame(WINDOW_UPDATE, 0, 0, MUCH));
      client.settings(Http2Client.INITIAL_WINDOW_SIZE, 4 << 20);
      for (int i = 0; i < STREAMS; i++) {
        assertThat(client.answer(1 + 2 * i).trailers()).containsEntry("grpc-status", "0");
      }
      settle(client);
      assertThat(pending(running)).isZero();
    }
  }

  @Test
  void answersOfStreamsThatEnd_countNoMore() throws Exception {
    long answers = (long) STREAMS * MESSAGES * answerBytes(CHECKS);
    try (RunningServer running = server("64m");
        Http2Client client = client(running)) {
      for (int i = 0; i < STREAMS; i++) {
        client.send(stream(1 + 2 * i, MESSAGES, CHECKS));
      }
      settle(client);
      assertThat(pending(running)).isBetween(answers, 3 * answers);
      for (int i = 0; i < STREAMS; i++) {
        client.send(frame(RST_STREAM, 0, 1 + 2 * i, CANCEL));
      }
      settle(client);
      assertThat(pending(running)).isZero();
    }
  }

  @Test
  void smallAnswers_countWithTheirObjects() throws Exception {
    int messages = 400;
    int bytes = answerBytes(1);
    try (RunningServer running = server("64m");
        Http2Client client = client(running)) {
      client.send(stream(1, messages, 1));
      settle(client);
      long all = pending(running);
      assertThat(all).isGreaterThan(messages * SendQueue.FRAME_BYTES);
      client.send(frame(WINDOW_UPDATE, 0, 0, MUCH));
      client.settings(Http2Client.INITIAL_WINDOW_SIZE, messages * bytes / 2);
      settle(client);
      assertThat(client.dataBytes()).isEqualTo(messages * bytes / 2);
      assertThat(pending(running)).isBetween(all * 48 / 100, all * 52 / 100);
    }
  }

  /** Returns the bytes of an answer to this number of checks, with its prefix. */
  private int answerBytes(int checks) throws Exception {
    try (RunningServer running = server("64m");
        Http2Client client = Http2Client.open(running.server.grpcPort())) {
      client.send(stream(1, 1, checks), frame(DATA, END_STREAM, 1, new byte[0]));
      return client.answer(1).message().remaining();
    }
  }

  @Test
  void answersAheadOfGrpcJava_countAsWell() throws Exception {
    int calls = 500;
    long streams = (calls - 10) * 4096L; // Ten of them are not counted.
    try (RunningServer running = server("64m");
        Http2Client client = client(running)) {
      for (int i = 0; i < calls; i++) {
        client.send(quick(1 + 2 * i));
      }
      settle(client);
      assertThat(pending(running)).isGreaterThan(streams + calls * SendQueue.FRAME_BYTES);
      client.send(frame(WINDOW_UPDATE, 0, 0, MUCH));
      client.settings(Http2Client.INITIAL_WINDOW_SIZE, 1 << 20);
      for (int i = 0; i < calls; i++) {
        assertThat(client.answer(1 + 2 * i).trailers()).containsEntry("grpc-status", "0");
      }
      settle(client);
      assertThat(pending(running)).isZero();
    }
  }

  /** Answers, of grpc-java and ahead of it, are kept for at most this time. */
  @Test
  void answersThatNobodyReads_endTheirConnection_afterTheRequestTimeout() throws Exception {
    try (RunningServer running = server("64m", "1s")) {
      for (byte[] call : new byte[][] {stream(1, 1, 1), quick(1)}) {
        try (Http2Client client = client(running)) {
          client.send(call);
          assertThat(client.ended()).isIn(CLOSED, ENHANCE_YOUR_CALM);
        }
      }
      assertThat(running.metric("weir_connections_timed_out_total{door=\"grpc\"}")).isEqualTo(2);
      Retried.run(() -> assertThat(pending(running)).isZero());
    }
  }

  @Test
  void answersBeyondTheBudget_endTheirConnection() throws Exception {
    try (RunningServer running = server("1m");
        Http2Client client = client(running);
        Http2Client other = Http2Client.open(running.server.grpcPort())) {
      try {
        for (int i = 0; i < STREAMS; i++) {
          client.send(stream(1 + 2 * i, MESSAGES, CHECKS));
          assertThat(pending(running)).isLessThan((1 << 20) + (1 << 19));
        }
        assertThat(client.ended()).isIn(CLOSED, ENHANCE_YOUR_CALM);
      } catch (SocketException e) {
        assertThat(e).hasMessageNotContaining("timed out"); // Closed before all of it was sent.
      }
      assertThat(running.metric("weir_connections_evicted_total{door=\"grpc\"}")).isOne();
      Retried.run(() -> assertThat(pending(running)).isZero());
      other.send(stream(1, 1, 1), frame(DATA, END_STREAM, 1, new byte[0]));
      assertThat(other.answer(1).trailers()).containsEntry("grpc-status", "0");
    }
  }
}
