package dev.weir.server.internal.grpc;

import static dev.weir.wire.testkit.Http2Frames.DATA;
import static dev.weir.wire.testkit.Http2Frames.END_HEADERS;
import static dev.weir.wire.testkit.Http2Frames.END_STREAM;
import static dev.weir.wire.testkit.Http2Frames.GOAWAY;
import static dev.weir.wire.testkit.Http2Frames.HEADERS;
import static dev.weir.wire.testkit.Http2Frames.RST_STREAM;
import static dev.weir.wire.testkit.Http2Frames.frame;
import static dev.weir.wire.testkit.Http2Frames.has;
import static dev.weir.wire.testkit.Http2Frames.open;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.server.LogCapture;
import dev.weir.server.Retried;
import dev.weir.server.RunningServer;
import dev.weir.testkit.Trials;
import dev.weir.wire.testkit.Http2Frames;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests with hostile clients of the gRPC port, frame by frame. Other clients are served as before.
 * [RFC 9113]
 */
class HostileGrpcTest {
  private static final String PATH = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

  @TempDir private static Path folder;
  private static RunningServer running;

  /** A server that soon cuts off clients that take too long. */
  private static RunningServer hasty;

  private static ManagedChannel innocent;

  @BeforeAll
  static void start() throws Exception {
    running = RunningServer.start(folder, "request-timeout", "1h");
    hasty = RunningServer.start(folder, "request-timeout", "500ms");
    innocent =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", running.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
  }

  @AfterAll
  static void stop() {
    innocent.shutdownNow();
    running.close();
    hasty.close();
  }

  @AfterEach
  void othersAreServed() {
    RateLimitRequest request =
        RateLimitRequest.newBuilder()
            .setDomain("test")
            .addDescriptors(
                RateLimitDescriptor.newBuilder()
                    .addEntries(
                        RateLimitDescriptor.Entry.newBuilder().setKey("free").setValue("x")))
            .build();
    assertThat(
            RateLimitServiceGrpc.newBlockingStub(innocent)
                .withDeadlineAfter(30, TimeUnit.SECONDS)
                .shouldRateLimit(request)
                .getOverallCode())
        .isEqualTo(Code.OK);
  }

  private static Socket connect() throws IOException {
    return connect(running);
  }

  private static Socket connect(RunningServer to) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), to.server.grpcPort());
    socket.setSoTimeout(60_000);
    return socket;
  }

  private static byte[] headers(String... more) {
    return Http2Frames.headers(PATH, more);
  }

  /** Reads until the server closes; returns all bytes that it sent. */
  private static byte[] readAll(Socket socket) throws IOException {
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    try {
      socket.getInputStream().transferTo(read);
    } catch (SocketException e) {
      return read.toByteArray(); // A reset is also a way to close.
    }
    return read.toByteArray();
  }

  @Test
  void rapidResets_endTheConnection() throws Exception {
    try (Socket socket = connect()) {
      open(socket);
      ByteArrayOutputStream attack = new ByteArrayOutputStream();
      byte[] head = headers();
      for (int stream = 1; stream < 4_000; stream += 2) {
        attack.writeBytes(frame(HEADERS, END_HEADERS, stream, head));
        attack.writeBytes(frame(RST_STREAM, 0, stream, new byte[] {0, 0, 0, 8}));
      }
      try {
        socket.getOutputStream().write(attack.toByteArray());
      } catch (SocketException e) {
        assertThat(e).isNotNull(); // Closed before all of it was sent.
      }
      byte[] frames = readAll(socket);
      assertThat(has(frames, GOAWAY) || frames.length < 100_000).isTrue();
    }
  }

  @Test
  void headersThatAreTooLarge_areRefused() throws Exception {
    try (Socket socket = connect()) {
      open(socket);
      byte[] head = headers("x-large", "x".repeat(12_000), "x-larger", "x".repeat(12_000));
      socket.getOutputStream().write(frame(HEADERS, 0, 1, Arrays.copyOf(head, 16_000)));
      socket
          .getOutputStream()
          .write(frame(9, END_HEADERS, 1, Arrays.copyOfRange(head, 16_000, head.length)));
      // The refusal is a status, a reset or the end of the connection, but not an answer.
      socket.getOutputStream().write(frame(DATA, END_STREAM, 1, new byte[] {0, 0, 0, 0, 0}));
      socket.shutdownOutput();
      assertThat(new String(readAll(socket), StandardCharsets.ISO_8859_1))
          .doesNotContain("rate limit domain must not be empty");
    }
  }

  @Test
  void messageThatSaysItIsHuge_isRefusedBeforeItComes() throws Exception {
    try (Socket socket = connect()) {
      open(socket);
      socket.getOutputStream().write(frame(HEADERS, END_HEADERS, 1, headers()));
      socket.getOutputStream().write(frame(DATA, 0, 1, new byte[] {0, 127, -1, -1, -1}));
      int type;
      do {
        ByteBuffer head = ByteBuffer.wrap(socket.getInputStream().readNBytes(9));
        int length = ((head.get() & 0xFF) << 16) | (head.getShort() & 0xFFFF);
        type = head.get();
        socket.getInputStream().skipNBytes(length);
      } while (type != HEADERS && type != RST_STREAM);
      assertThat(type).isIn(HEADERS, RST_STREAM);
    }
  }

  @Test
  void silentConnections_areClosed_andNotCountedTwice() throws Exception {
    List<Socket> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 300; i++) {
        silent.add(connect(hasty));
      }
      othersAreServed();
      for (Socket socket : silent) {
        readAll(socket);
      }
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
    Retried.run(() -> assertThat(hasty.metric("weir_connections{door=\"grpc\"}")).isNotNegative());
  }

  private static String path(String method) {
    return "/grpc.health.v1.Health/" + method;
  }

  private static byte[] healthName(int length) {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    message.write(10); // Field 1, a text.
    int rest = length;
    for (; rest >= 128; rest >>>= 7) {
      message.write((rest & 127) | 128);
    }
    message.write(rest);
    message.writeBytes(new byte[length]);
    return Http2Frames.message(message.toByteArray());
  }

  /** Returns a small message that inflates to this number of bytes. */
  private static byte[] inflating(int size) throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream zip = new GZIPOutputStream(packed)) {
      zip.write(healthName(size), 5, size); // The name has its declared length.
    }
    byte[] message = Http2Frames.message(packed.toByteArray());
    message[0] = 1;
    return message;
  }

  private static void send(Socket socket, byte[]... frames) throws IOException {
    for (byte[] each : frames) {
      socket.getOutputStream().write(each);
    }
  }

  @Test
  void connectionsBeyondTheMost_areClosedAtOnce(@TempDir Path other) throws Exception {
    try (RunningServer small = RunningServer.start(other, "max-connections", "3")) {
      List<Socket> sockets = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), small.server.grpcPort());
        socket.setSoTimeout(60_000);
        sockets.add(socket);
        try {
          open(socket);
        } catch (SocketException e) {
          assertThat(e).hasMessageNotContaining("timed out"); // Closed before it could be sent.
        }
      }
      // Any three stay open.
      List<Socket> open = new ArrayList<>(sockets);
      for (int round = 0; round < 10_000 && open.size() > 3; round++) {
        Socket socket = open.remove(0);
        socket.setSoTimeout(10);
        if (!tooMany(socket)) {
          open.add(socket);
        }
      }
      assertThat(open).hasSize(3);
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  /** Returns whether the server has closed the connection with this reason. */
  private static boolean tooMany(Socket socket) throws IOException {
    try {
      String told = new String(readAll(socket), StandardCharsets.ISO_8859_1);
      assertThat(told).contains("connections: too many (expected: at most 3)");
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    }
  }

  @Test
  void streamsThatAreOpenOrHalf_countAndAreCutWithTheirConnection(@TempDir Path other)
      throws Exception {
    try (RunningServer small =
            RunningServer.start(other, "max-pending-memory", "1m", "request-timeout", "1h");
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), small.server.grpcPort())) {
      socket.setSoTimeout(60_000);
      open(socket);
      for (int stream = 1; stream < 800; stream += 2) { // Each is answered; none is ended.
        send(socket, frame(HEADERS, END_HEADERS, stream, Http2Frames.headers("/no.such/Method")));
      }
      assertThat(new String(readAll(socket), StandardCharsets.ISO_8859_1))
          .contains("too many bytes of unfinished requests");
    }
  }

  @Test
  void messageThatStops_isEndedInTime_andItsConnectionGoesOn() throws Exception {
    Retried.run(
        () -> {
          try (Socket socket = connect(hasty)) {
            open(socket);
            for (int stream = 1; stream < 20; stream += 2) {
              send(socket, frame(HEADERS, END_HEADERS, stream, headers()));
              for (byte[] data : Http2Frames.data(stream, Http2Frames.halfMessage(60_000, 5_000))) {
                send(socket, data);
              }
            }
            String told = Http2Frames.until(socket, "--request-timeout)");
            assertThat(told).contains("request: not complete in time");
            send(socket, frame(HEADERS, END_HEADERS, 21, headers()));
            send(socket, frame(DATA, END_STREAM, 21, new byte[] {0, 0, 0, 0, 0}));
            assertThat(Http2Frames.until(socket, "must not be empty"))
                .contains("rate limit domain must not be empty");
          }
        });
  }

  @Test
  void headersWithoutARequest_areEndedInTime() throws Exception {
    Retried.run(
        () -> {
          try (Socket socket = connect(hasty)) {
            open(socket);
            send(socket, frame(HEADERS, END_HEADERS, 1, headers()));
            assertThat(Http2Frames.until(socket, "--request-timeout)"))
                .contains("not complete in time");
          }
        });
  }

  @Test
  void frameThatStops_isClosedInTime() throws Exception {
    Retried.run(
        () -> {
          try (Socket socket = connect(hasty)) {
            open(socket);
            send(socket, Arrays.copyOf(frame(HEADERS, 0, 1, headers()), 20));
            assertThat(new String(readAll(socket), StandardCharsets.ISO_8859_1))
                .contains("frame: not complete in time");
          }
        });
  }

  @Test
  void longNamesOfServices_areRefused_wholeOrNot() throws Exception {
    for (String method : List.of("Check", "Watch")) {
      try (Socket socket = connect()) {
        open(socket);
        byte[] head = Http2Frames.headers(path(method));
        send(socket, frame(HEADERS, END_HEADERS, 1, head));
        send(socket, frame(DATA, END_STREAM, 1, healthName(257)));
        assertThat(Http2Frames.until(socket, "at most 256)")).contains("service: 257 characters");
        send(socket, frame(HEADERS, END_HEADERS, 3, head));
        send(socket, frame(DATA, END_STREAM, 3, healthName(256)));
        String answer = method.equals("Check") ? "unknown service" : "\u0008\u0003";
        assertThat(Http2Frames.until(socket, answer))
            .contains(answer)
            .doesNotContain("at most 256)");
        send(socket, frame(HEADERS, END_HEADERS, 5, head));
        for (byte[] data : Http2Frames.data(5, Http2Frames.halfMessage(1_000_000, 20_000))) {
          send(socket, data);
        }
        assertThat(Http2Frames.until(socket, "at most 1024)")).contains("message: more bytes");
      }
    }
  }

  @Test
  void watchers_areBounded() throws Exception {
    try (Socket socket = connect()) {
      open(socket);
      byte[] head = Http2Frames.headers(path("Watch"));
      for (int i = 0; i <= Admission.MAX_WATCHES_PER_CONNECTION; i++) {
        send(socket, frame(HEADERS, END_HEADERS, 1 + 2 * i, head));
        send(socket, frame(DATA, END_STREAM, 1 + 2 * i, healthName(5)));
      }
      assertThat(Http2Frames.until(socket, "in all)"))
          .contains("Watch: too many (expected: at most 10 on a connection, 10000");
      send(socket, frame(RST_STREAM, 0, 1, new byte[] {0, 0, 0, 8}));
      int again = 2 * Admission.MAX_WATCHES_PER_CONNECTION + 3;
      send(socket, frame(HEADERS, END_HEADERS, again, head));
      send(socket, frame(DATA, END_STREAM, again, healthName(5)));
      assertThat(Http2Frames.until(socket, "\u0008\u0003")).doesNotContain("Watch: too many");
    }
  }

  @Test
  void messagesThatCannotBeParsed_areToldSo_andTheLogIsSilent() throws Exception {
    try (LogCapture log = LogCapture.all();
        Socket socket = connect()) {
      open(socket);
      for (int i = 0; i < 50; i++) {
        String path = i % 2 == 0 ? path("Check") : "/weir.v1.Weir/CheckStream";
        byte[] head = Http2Frames.headers(path, "grpc-encoding", "gzip");
        send(socket, frame(HEADERS, END_HEADERS, 1 + 2 * i, head));
        boolean inflates = i % 4 == 2;
        byte[] malformed = Http2Frames.message(new byte[] {-1, -1});
        byte[] message = inflates ? inflating(3 << 20) : malformed;
        send(socket, frame(DATA, END_STREAM, 1 + 2 * i, message));
        String told = inflates ? "exceeds maximum size" : "message: ";
        assertThat(Http2Frames.until(socket, told)).contains(told);
      }
      othersAreServed();
      assertThat(log.text()).isEmpty();
    }
  }

  @Test
  void messagesInCrumbs_endTheConnection() throws Exception {
    try (Socket socket = connect()) {
      open(socket);
      send(socket, frame(HEADERS, END_HEADERS, 1, headers()));
      send(socket, frame(DATA, 0, 1, Http2Frames.halfMessage(60_000, 0)));
      ByteArrayOutputStream crumbs = new ByteArrayOutputStream();
      for (int i = 0; i < 3_000; i++) {
        crumbs.writeBytes(frame(DATA, 0, 1, new byte[1]));
      }
      try {
        send(socket, crumbs.toByteArray());
      } catch (SocketException e) {
        assertThat(e).hasMessageNotContaining("timed out");
      }
      assertThat(new String(readAll(socket), StandardCharsets.ISO_8859_1))
          .contains("small pieces of messages: too many");
    }
  }

  @Test
  void anythingAtAll_harmsNobody() throws Exception {
    int runs = 150;
    SplittableRandom random = Trials.random("gRPC attacks", runs);
    for (int trial = 0; trial < runs; trial++) {
      try (Socket socket = connect()) {
        if (random.nextInt(4) > 0) {
          open(socket);
        }
        for (int i = random.nextInt(20); i > 0; i--) {
          byte[] payload = random.nextBoolean() ? headers() : new byte[random.nextInt(60)];
          if (random.nextInt(3) == 0) {
            random.nextBytes(payload);
          }
          int stream = 2 * random.nextInt(10) + (random.nextInt(10) == 0 ? 0 : 1);
          socket
              .getOutputStream()
              .write(frame(random.nextInt(11), random.nextInt(256), stream, payload));
        }
        socket.shutdownOutput();
        readAll(socket);
      } catch (SocketException e) {
        assertThat(e).hasMessageNotContaining("timed out");
      }
    }
  }
}
