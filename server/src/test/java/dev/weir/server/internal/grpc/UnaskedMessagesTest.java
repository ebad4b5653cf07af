package dev.weir.server.internal.grpc;

import static dev.weir.wire.testkit.Http2Frames.DATA;
import static dev.weir.wire.testkit.Http2Frames.END_STREAM;
import static dev.weir.wire.testkit.Http2Frames.RST_STREAM;
import static dev.weir.wire.testkit.Http2Frames.WINDOW_UPDATE;
import static dev.weir.wire.testkit.Http2Frames.frame;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.CheckBatchRequest;
import dev.weir.protocol.v1.WeirProto.Descriptor;
import dev.weir.protocol.v1.WeirProto.Entry;
import dev.weir.server.RunningServer;
import dev.weir.wire.testkit.Http2Client;
import dev.weir.wire.testkit.Http2Frames;
import java.io.ByteArrayOutputStream;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of messages that the server has not requested, on many streams of one connection, whose
 * client reads no answers. They count in {@code --max-pending-memory} until they are read or their
 * streams end.
 */
class UnaskedMessagesTest {
  private static final String STREAM = "/weir.v1.Weir/CheckStream";
  private static final String BATCH = "/weir.v1.Weir/CheckBatch";

  /** The bytes that a client may send on a stream. */
  private static final int WINDOW = 256 << 10;

  /** The bytes left on a stream: a few messages are read before the most of their answers wait. */
  private static final int LEFT = 150_000;

  private static final int STREAMS = 40;

  /** The checks in each message of a stream. */
  private static final int CHECKS = 200;

  private static final int ENHANCE_YOUR_CALM = 11;
  private static final int CLOSED = -1;
  private static final byte[] CANCEL = {0, 0, 0, 8};
  private static final byte[] MUCH = {127, 0, 0, 0};

  @TempDir private Path folder;

  private static byte[] message(int checks) {
    CheckBatchRequest.Builder request = CheckBatchRequest.newBuilder();
    Entry entry = Entry.newBuilder().setKey("tenant").setValue("t").build();
    Descriptor descriptor = Descriptor.newBuilder().addEntries(entry).build();
    for (int i = 0; i < checks; i++) {
      request.addChecks(Check.newBuilder().setDomain("test").addDescriptors(descriptor));
    }
    return request.build().toByteArray();
  }

  private static RunningServer server(Path folder, String budget) throws Exception {
    return RunningServer.start(folder, "max-pending-memory", budget, "request-timeout", "1h");
  }

  /** Returns a client that has no room for answers. */
  private static Http2Client client(RunningServer running) throws Exception {
    Http2Client client =
        Http2Client.open(running.server.grpcPort(), Http2Client.INITIAL_WINDOW_SIZE, 0);
    client.settle();
    client.ping(); // All answers to settings have arrived.
    return client;
  }

  /** Returns a call with as many bytes of messages as a stream may have. */
  private static byte[] full(int stream) {
    return call(stream, WINDOW);
  }

  private static byte[] call(int stream, int bytes) {
    byte[] message = Http2Frames.message(message(CHECKS));
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    while (messages.size() < bytes) {
      messages.writeBytes(message);
    }
    ByteArrayOutputStream frames = new ByteArrayOutputStream();
    frames.writeBytes(head(stream, STREAM));
    for (byte[] data : Http2Frames.data(stream, Arrays.copyOf(messages.toByteArray(), bytes))) {
      frames.writeBytes(data);
    }
    return frames.toByteArray();
  }

  private static byte[] head(int stream, String path) {
    return frame(Http2Frames.HEADERS, Http2Frames.END_HEADERS, stream, Http2Frames.headers(path));
  }

  private static long pending(RunningServer running) throws Exception {
    return running.metric("weir_pending_bytes");
  }

  private static void awaitPending(RunningServer running, long least, long most) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    long pending = pending(running);
    while ((pending < least || pending > most) && System.nanoTime() < deadline) {
      pending = pending(running);
    }
    assertThat(pending).isBetween(least, most);
  }

  @Test
  void streamsThatAreNotRead_countUntilTheyEnd() throws Exception {
    try (RunningServer running = server(folder, "64m");
        Http2Client client = client(running)) {
      for (int i = 0; i < STREAMS; i++) {
        client.send(full(1 + 2 * i));
      }
      client.settle();
      long full = pending(running);
      assertThat(full).isBetween((long) STREAMS * LEFT, 4L * STREAMS * WINDOW);
      for (int i = 0; i < STREAMS / 2; i++) {
        client.send(frame(RST_STREAM, 0, 1 + 2 * i, CANCEL));
      }
      client.settle();
      awaitPending(running, full * 4 / 10, full * 6 / 10);
    }
  }

  @Test
  void streamsThatAreReadOn_countNoMore() throws Exception {
    try (RunningServer running = server(folder, "64m");
        Http2Client client = client(running)) {
      int length = Http2Frames.message(message(CHECKS)).length;
      for (int i = 0; i < STREAMS; i++) {
        client.send(call(1 + 2 * i, WINDOW / length * length));
        client.send(frame(DATA, END_STREAM, 1 + 2 * i, new byte[0]));
      }
      client.settle();
      assertThat(pending(running)).isGreaterThan(STREAMS * LEFT);
      client.send(frame(WINDOW_UPDATE, 0, 0, MUCH));
      client.settings(Http2Client.INITIAL_WINDOW_SIZE, 4 << 20);
      for (int i = 0; i < STREAMS; i++) {
        assertThat(client.answer(1 + 2 * i).trailers()).containsEntry("grpc-status", "0");
      }
      client.settle();
      awaitPending(running, 0, 0);
    }
  }

  @Test
  void streamsBeyondTheBudget_endTheirConnection() throws Exception {
    try (RunningServer running = server(folder, "4m");
        Http2Client client = client(running);
        Http2Client other = Http2Client.open(running.server.grpcPort())) {
      try {
        for (int i = 0; i < STREAMS; i++) {
          client.send(full(1 + 2 * i));
          assertThat(pending(running)).isLessThan((4 << 20) + (1 << 20) + (1 << 19));
        }
      } catch (SocketException e) {
        assertThat(e).hasMessageNotContaining("timed out"); // Closed before all of it was sent.
      }
      assertThat(client.ended()).isIn(CLOSED, ENHANCE_YOUR_CALM);
      assertThat(running.metric("weir_connections_evicted_total{door=\"grpc\"}")).isOne();
      awaitPending(running, 0, 0);
      other.send(head(1, BATCH), Http2Client.body(1, message(1)));
      assertThat(other.answer(1).trailers()).containsEntry("grpc-status", "0");
    }
  }

  @Test
  void piecesThatKeepWholeReads_countAsThese() throws Exception {
    try (RunningServer running = server(folder, "64m");
        Http2Client client = client(running)) {
      client.send(call(1, WINDOW / 2));
      client.settle();
      long before = pending(running);
      ByteArrayOutputStream crumb = new ByteArrayOutputStream();
      crumb.writeBytes(frame(DATA, 0, 1, new byte[20]));
      while (crumb.size() < 12_000) { // They are of no use, like all bytes of unknown types.
        crumb.writeBytes(frame(99, 0, 0, new byte[1_000]));
      }
      for (int i = 0; i < 200; i++) {
        client.send(crumb.toByteArray());
      }
      client.settle();
      assertThat(pending(running) - before).isGreaterThan(200 * 10_000);
    }
  }

  @Test
  void callsUnderWay_countOnlyAsCalls() throws Exception {
    try (RunningServer running = server(folder, "64m");
        Http2Client client = client(running)) {
      int calls = 300;
      for (int i = 0; i < calls; i++) {
        client.send(head(1 + 2 * i, BATCH), Http2Client.body(1 + 2 * i, message(3)));
      }
      client.settle();
      assertThat(pending(running)).isLessThan(calls * (9L << 10));
      client.send(frame(WINDOW_UPDATE, 0, 0, MUCH));
      client.settings(Http2Client.INITIAL_WINDOW_SIZE, 1 << 20);
      for (int i = 0; i < calls; i++) {
        assertThat(client.answer(1 + 2 * i).trailers()).containsEntry("grpc-status", "0");
      }
      client.settle();
      awaitPending(running, 0, 0);
    }
  }
}
