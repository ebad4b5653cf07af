package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.wire.testkit.Http2Frames;
import dev.weir.wire.testkit.RespClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of requests that never become complete, on many connections of every port: together they
 * hold at most {@code --max-pending-memory}, and small ones are not closed because of large ones.
 */
class UnfinishedRequestsTest {
  private static final String PATH = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
  private static final int BUDGET = 1 << 20;
  private static final int PART = 300_000;
  private static final String REFUSED = "unfinished requests: too many bytes";

  @TempDir private Path folder;
  private RunningServer running;
  private final List<Socket> sockets = new ArrayList<>();

  @BeforeEach
  void start() throws Exception {
    running = RunningServer.start(folder, "max-pending-memory", "1m", "request-timeout", "1h");
  }

  @AfterEach
  void stop() throws Exception {
    for (Socket socket : sockets) {
      socket.close();
    }
    running.close();
  }

  private Socket connect(int port) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(20_000);
    sockets.add(socket);
    return socket;
  }

  /** Sends bytes as far as the server takes them. */
  private static void send(Socket socket, byte[] bytes) throws IOException {
    try {
      socket.getOutputStream().write(bytes);
    } catch (SocketException e) {
      assertThat(e).hasMessageNotContaining("timed out"); // It was closed before all was sent.
    }
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Reads the answers on all sockets, until one contains the text. */
  private static String told(List<Socket> some, String text) throws IOException {
    StringBuilder told = new StringBuilder();
    for (int round = 0; round < 100 && told.indexOf(text) < 0; round++) {
      for (Socket socket : some) {
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        socket.setSoTimeout(20);
        try {
          socket.getInputStream().transferTo(read);
        } catch (SocketTimeoutException e) {
          assertThat(socket.isClosed()).isFalse(); // It is open, and all its input has been read.
        } catch (SocketException e) {
          assertThat(e).hasMessageNotContaining("timed out"); // A reset is also a way to close.
        }
        told.append(read.toString(StandardCharsets.ISO_8859_1));
      }
    }
    return told.toString();
  }

  private long metric(String name) throws Exception {
    return running.metric(name);
  }

  /**
   * Asserts the bound. Beyond five quarters of the budget a connection of more than 64 KiB is
   * closed. It keeps its bytes until its own event loop closes it, for a moment, and no loop reads
   * more than that in between.
   */
  private void assertWithinBound() throws Exception {
    long strict = BUDGET + BUDGET / 4;
    long atMost = strict + Runtime.getRuntime().availableProcessors() * (64L << 10);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    long pending = metric("weir_pending_bytes");
    while (pending > strict && System.nanoTime() < end) {
      assertThat(pending).isLessThanOrEqualTo(atMost);
      pending = metric("weir_pending_bytes");
    }
    assertThat(pending).isLessThanOrEqualTo(strict);
  }

  private void assertBounded(String door) throws Exception {
    assertWithinBound();
    assertThat(metric("weir_connections_evicted_total{door=\"" + door + "\"}")).isPositive();
    assertThat(metric("weir_max_pending_bytes")).isEqualTo(BUDGET);
  }

  @Test
  void commands_ofManyConnections() throws Exception {
    try (RespClient small = new RespClient(running.server.respPort())) {
      small.send("*2\r\n$4\r\nECHO\r\n$5\r\nhe");
      byte[] part = ascii("*2\r\n$4\r\nECHO\r\n$1000000\r\n" + "x".repeat(PART));
      for (int i = 0; i < 20; i++) {
        send(connect(running.server.respPort()), part);
        assertWithinBound();
      }
      assertThat(running.check("tenant", "a").statusCode()).isEqualTo(200);
      assertThat(told(sockets, REFUSED)).contains("-ERR " + REFUSED);
      assertBounded("resp");
      assertThat(small.send("llo\r\n").reply()).isEqualTo("$5|hello|");
    }
  }

  @Test
  void bodiesAndHeads_ofManyConnections() throws Exception {
    Socket small = connect(running.server.httpPort());
    send(small, ascii("POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{"));
    byte[] part =
        ascii(
            "POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
                + "x".repeat(PART));
    byte[] head = ascii("GET / HTTP/1.1\r\nHost: x\r\nX: " + "y".repeat(15_000));
    for (int i = 0; i < 20; i++) {
      send(connect(running.server.httpPort()), part);
    }
    assertThat(told(sockets.subList(1, 21), REFUSED)).contains("HTTP/1.1 503 ").contains(REFUSED);
    assertBounded("http");
    for (int i = 0; i < 100; i++) {
      send(connect(running.server.httpPort()), head);
    }
    assertBounded("http");
    send(small, ascii("}"));
    byte[] answer = small.getInputStream().readNBytes(12);
    assertThat(new String(answer, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 400");
  }

  @Test
  void messages_ofManyConnections() throws Exception {
    byte[] half = Http2Frames.halfMessage(1_000_000, 50_000); // Less than a connection's window.
    for (int i = 0; i < 60; i++) {
      Socket socket = connect(running.server.grpcPort());
      Http2Frames.open(socket);
      byte[] head = Http2Frames.headers(PATH);
      send(socket, Http2Frames.frame(Http2Frames.HEADERS, Http2Frames.END_HEADERS, 1, head));
      for (byte[] frame : Http2Frames.data(1, half)) {
        send(socket, frame);
      }
    }
    assertThat(told(sockets, REFUSED)).contains(REFUSED);
    assertThat(running.check("tenant", "a").statusCode()).isEqualTo(200);
    assertBounded("grpc");
  }

  @Test
  void framesThatAreNotWhole_countToo() throws Exception {
    byte[] frame =
        Http2Frames.frame(Http2Frames.HEADERS, Http2Frames.END_HEADERS, 1, new byte[16_384]);
    for (int i = 0; i < 150; i++) {
      Socket socket = connect(running.server.grpcPort());
      Http2Frames.open(socket);
      send(socket, Arrays.copyOf(frame, frame.length - 1));
    }
    String why = "too many bytes of unfinished requests";
    assertThat(told(sockets, why)).contains(why);
    assertBounded("grpc");
  }

  @Test
  void answersThatAreNotRead_countToo() throws Exception {
    byte[] asks = ascii("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(40));
    for (int i = 0; i < 60; i++) {
      Socket socket = connect(running.server.httpPort());
      socket.setReceiveBufferSize(4_096);
      send(socket, asks);
    }
    assertWithinBound();
    assertThat(running.check("tenant", "a").statusCode()).isEqualTo(200);
  }

  @Test
  void whatIsClosed_isGivenBack() throws Exception {
    commands_ofManyConnections();
    for (Socket socket : sockets) {
      socket.close();
    }
    while (metric("weir_connections{door=\"resp\"}") > 0) {
      Thread.onSpinWait();
    }
    assertThat(metric("weir_pending_bytes")).isZero();
  }
}
