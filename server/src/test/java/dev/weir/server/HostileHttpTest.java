package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests with hostile HTTP clients. After each attack, other clients are served as before. */
class HostileHttpTest {
  private static final int MAX_BODY = 65_536;

  @TempDir private static Path folder;
  private static RunningServer running;

  /** A server that soon cuts off clients that take too long. */
  private static RunningServer hasty;

  @BeforeAll
  static void start() throws Exception {
    running = server("1h");
    hasty = server("500ms");
  }

  private static RunningServer server(String requestTimeout) throws Exception {
    return RunningServer.start(
        folder,
        "request-timeout",
        requestTimeout,
        "idle-timeout",
        "1h",
        "max-body-bytes",
        Integer.toString(MAX_BODY),
        "max-connections",
        "20");
  }

  @AfterAll
  static void stop() {
    running.close();
    hasty.close();
  }

  @AfterEach
  void othersAreServed() throws Exception {
    assertThat(running.check("tenant", "innocent").statusCode()).isEqualTo(200);
    Retried.run(() -> assertThat(hasty.check("tenant", "innocent").statusCode()).isEqualTo(200));
  }

  private static Socket connect() throws IOException {
    return connect(running);
  }

  private static Socket connect(RunningServer to) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), to.server.httpPort());
    socket.setSoTimeout(60_000);
    return socket;
  }

  private static void write(Socket socket, String text) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(text.getBytes(StandardCharsets.ISO_8859_1));
    out.flush();
  }

  /** Reads until the server closes. */
  private static String readAll(Socket socket) throws IOException {
    StringBuilder text = new StringBuilder();
    try {
      InputStream in = socket.getInputStream();
      for (int c = in.read(); c >= 0; c = in.read()) {
        text.append((char) c);
      }
    } catch (SocketException e) {
      return text.toString(); // A reset is also a way to close.
    }
    return text.toString();
  }

  @Test
  void oversizeBody_is413() throws Exception {
    HttpResponse<String> answer = running.post("/v1/check", "x".repeat(MAX_BODY + 1));
    assertThat(answer.statusCode()).isEqualTo(413);
    assertThat(answer.body()).contains("body: more bytes (expected: at most 65536)");
  }

  /** Vert.x passes on an empty piece of the body behind the others if there is a trailer. */
  @Test
  void chunkedBodyWithATrailer_isReadWhole() throws Exception {
    String body =
        "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"key\":\"never\",\"value\":\"\"}]}]}";
    for (String path : List.of("/v1/check", "/json")) {
      for (String trailer : List.of("", "X-A: b\r\n")) {
        try (Socket socket = connect(running)) {
          write(
              socket,
              "POST "
                  + path
                  + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type:"
                  + " application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                  + Integer.toHexString(body.length())
                  + "\r\n"
                  + body
                  + "\r\n0\r\n"
                  + trailer
                  + "\r\n");
          assertThat(readAll(socket)).as(path + trailer).startsWith("HTTP/1.1 429 ");
        }
      }
    }
  }

  @Test
  void chunkedBodyWithoutEnd_is413AndClosed() throws Exception {
    Retried.run(
        () -> {
          try (Socket socket = connect(hasty)) {
            write(
                socket, "POST /v1/check HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
            String chunk = "1000\r\n" + "x".repeat(0x1000) + "\r\n";
            for (int i = 0; i < 17; i++) {
              write(socket, chunk);
            }
            assertThat(readAll(socket)).startsWith("HTTP/1.1 413 ");
          }
        });
  }

  @Test
  void declaredGigabyte_is413BeforeItIsSent() throws Exception {
    Retried.run(
        () -> {
          try (Socket socket = connect(hasty)) {
            write(socket, "POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n");
            assertThat(readAll(socket)).startsWith("HTTP/1.1 413 ");
          }
        });
  }

  @Test
  void deepJson_isRefusedOnEitherPath() throws Exception {
    for (String path : List.of("/v1/check", "/json")) {
      HttpResponse<String> answer = running.post(path, "[".repeat(60_000));
      assertThat(answer.statusCode()).isEqualTo(400);
      String nested = "{\"a\":".repeat(10_000) + "1" + "}".repeat(10_000);
      assertThat(running.post(path, nested).statusCode()).isEqualTo(400);
    }
  }

  @Test
  void thousandDescriptors_areRefusedWithTheNumber() throws Exception {
    String descriptor = "{\"entries\":[{\"key\":\"user\",\"value\":\"v\"}]}";
    String many = "[" + (descriptor + ",").repeat(999) + descriptor + "]";
    String body = "{\"domain\":\"test\",\"descriptors\":" + many + "}";
    for (String path : List.of("/v1/check", "/json")) {
      HttpResponse<String> answer = running.post(path, body);
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(answer.body()).contains("descriptors: 1000 (expected: at most 128)");
    }
  }

  @Test
  void hugeKeys_areRefusedWithTheLength() throws Exception {
    String huge = "k".repeat(5_000);
    HttpResponse<String> answer = running.check("user", huge);
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("entry length: 5000 (expected: at most 4096)");
    assertThat(answer.body().length()).isLessThan(500);
    assertThat(running.check(huge, "x").statusCode()).isEqualTo(400);
  }

  @Test
  void hugeHeadersAndPaths_areRefused() throws Exception {
    try (Socket socket = connect()) {
      write(socket, "GET / HTTP/1.1\r\nHost: x\r\nX: " + "y".repeat(40_000) + "\r\n\r\n");
      assertThat(readAll(socket)).contains(" 431 ");
    }
    try (Socket socket = connect()) {
      write(socket, "GET /" + "y".repeat(40_000) + " HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(readAll(socket)).contains(" 414 ");
    }
  }

  @Test
  void headThatNeverComes_isClosed() throws Exception {
    try (Socket socket = connect(hasty)) {
      assertThat(readAll(socket)).isEmpty();
    }
  }

  @Test
  void headThatTrickles_isClosedAllTheSame() throws Exception {
    try (Socket socket = connect(hasty)) {
      assertThat(trickle(socket, "GET / HTTP/1.1\r\nX: ")).isTrue();
    }
  }

  @Test
  void bodyThatTrickles_isClosedAllTheSame() throws Exception {
    try (Socket socket = connect(hasty)) {
      String head = "POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n";
      assertThat(trickle(socket, head)).isTrue();
    }
  }

  /** Sends a byte whenever nothing has come for 20 ms; returns whether the server closed. */
  private static boolean trickle(Socket socket, String begin) throws IOException {
    socket.setSoTimeout(20);
    for (int i = 0; i < 1_000; i++) {
      try {
        if (i == 0) {
          write(socket, begin);
        }
        if (socket.getInputStream().read() < 0) {
          return true;
        }
      } catch (SocketTimeoutException e) {
        try {
          write(socket, "y");
        } catch (SocketException closed) {
          return true;
        }
      } catch (SocketException e) {
        return true;
      }
    }
    return false;
  }

  @Test
  void pipelineWhoseAnswersAreNotRead_isHeldBackAndClosed() throws Exception {
    try (Socket socket = connect(hasty)) {
      socket.setReceiveBufferSize(4_096);
      String requests = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000);
      boolean closed = false;
      for (int i = 0; i < 200 && !closed; i++) {
        try {
          write(socket, requests); // Blocks once the server no longer reads.
        } catch (SocketException e) {
          closed = true;
        }
      }
      assertThat(closed).isTrue();
    }
  }

  @Test
  void connectionsBeyondTheLimit_areClosedAtOnce() throws Exception {
    List<Socket> sockets = new ArrayList<>();
    try {
      int refused = 0;
      for (int i = 0; i < 40; i++) {
        Socket socket = connect();
        sockets.add(socket);
        write(socket, "GET /healthcheck HTTP/1.1\r\nHost: x\r\n\r\n");
        refused += first(socket) == 'H' ? 0 : 1;
      }
      assertThat(refused).isBetween(20, 39);
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
    // Closed sockets make room again, sooner or later: requests are repeated until there is some.
    int first = -1;
    while (first != 'H') {
      try (Socket socket = connect()) {
        write(socket, "GET /healthcheck HTTP/1.1\r\nHost: x\r\n\r\n");
        first = first(socket);
      }
    }
  }

  private static int first(Socket socket) throws IOException {
    try {
      return socket.getInputStream().read();
    } catch (SocketException e) {
      return -1;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "501, Transfer-Encoding: xchunked|Content-Length: 39",
    "501, 'Transfer-Encoding: gzip, chunked'",
    "400, Host: other",
    "400, A: b| Content-Length: 5",
    "400, Content-Length: 5|Content-Length: 5",
    "400, Transfer-Encoding: chunked|Content-Length: 5",
  })
  void framingInDoubt_isRefusedInOrder_andNothingAfterItIsRead(int status, String fields)
      throws Exception {
    String good = "GET /healthcheck HTTP/1.1\r\nHost: x\r\n\r\n";
    String bad =
        "POST /v1/check HTTP/1.1\r\nHost: x\r\n" + fields.replace("|", "\r\n") + "\r\n\r\n";
    try (Socket socket = connect()) {
      write(socket, good + bad + good);
      String answers = readAll(socket);
      assertThat(answers).startsWith("HTTP/1.1 200 ").contains("HTTP/1.1 " + status + " ");
      assertThat(answers.split("HTTP/1.1 200", -1)).hasSize(2);
      assertThat(answers).contains("(expected: ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1\r\n", "0x27\r\n", "5\nabcde", "123456789\r\n", "3\r\nabcdef"})
  void brokenChunks_are400AndClosed(String chunks) throws Exception {
    String good = "GET /healthcheck HTTP/1.1\r\nHost: x\r\n\r\n";
    for (String before : List.of("", good)) {
      try (Socket socket = connect()) {
        write(
            socket,
            before
                + "POST /v1/check HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                + chunks
                + good);
        String answers = readAll(socket);
        assertThat(answers).contains("HTTP/1.1 400 ").contains("chunk: ");
        assertThat(answers.split("HTTP/1.1 200", -1)).hasSize(before.isEmpty() ? 1 : 2);
      }
    }
  }

  @Test
  void headThatStopsAfterAnotherRequest_isClosedInTheTimeForRequests() throws Exception {
    Retried.run(
        () -> {
          try (Socket socket = connect(hasty)) {
            write(socket, "GET /healthcheck HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nX: ");
            assertThat(readAll(socket)).startsWith("HTTP/1.1 200 "); // Not the hour of idle ones.
          }
        });
  }

  @Test
  void randomBytes_breakNothing() throws Exception {
    int runs = 50;
    long seed = Trials.random("HTTP attacks", runs).nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < runs; i++) {
      byte[] bytes = new byte[1 + random.nextInt(400)];
      random.nextBytes(bytes);
      try (Socket socket = connect()) {
        socket.getOutputStream().write(bytes);
        socket.shutdownOutput();
        readAll(socket);
      }
      String body = new String(bytes, StandardCharsets.ISO_8859_1);
      assertThat(running.post("/v1/check", body).statusCode()).as("seed " + seed).isEqualTo(400);
      assertThat(running.post("/json", body).statusCode()).as("seed " + seed).isEqualTo(400);
    }
  }
}
