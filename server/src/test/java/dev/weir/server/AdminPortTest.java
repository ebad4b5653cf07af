package dev.weir.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.AdminCaller;
import dev.weir.admin.AdminHandler;
import dev.weir.admin.AdminRequest;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.wire.testkit.Pem;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the port for administration as a transport, with a handler of the test behind it. */
@Timeout(300)
class AdminPortTest {
  private static final int PIECE = 64 << 10;

  @TempDir private Path folder;
  private final TestConfigStores.Shared store = TestConfigStores.store();
  private final CountDownLatch release = new CountDownLatch(1);
  private final AtomicInteger handled = new AtomicInteger();
  private final AtomicInteger pieces = new AtomicInteger();
  private final List<Socket> sockets = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // Each test sets it, with settings of its own.
  private RunningServer running;

  private int opened;

  @AfterEach
  void stop() throws IOException {
    release.countDown();
    for (Socket socket : sockets) {
      socket.close();
    }
    if (running != null) {
      running.close();
    }
  }

  private void start(String... namesAndValues) throws Exception {
    AdminHandler handler =
        new AdminHandler() {
          @Override
          public AdminResponse handle(AdminRequest request) {
            return AdminPortTest.this.handle(request);
          }

          @Override
          public AdminCaller caller(AdminRequest request) {
            String token = request.field("X-Token");
            return token.isEmpty()
                ? AdminCaller.unknown(request)
                : new AdminCaller(
                    token, token.startsWith("operator") ? Role.OPERATOR : Role.VIEWER);
          }
        };
    running = RunningServer.start(store, handler, namesAndValues);
  }

  private AdminResponse handle(AdminRequest request) {
    handled.incrementAndGet();
    try {
      return switch (request.path()) {
        case "/long" -> {
          release.await();
          yield text("done");
        }
        case "/fail" -> throw new IllegalStateException("pretended");
        case "/empty" -> new AdminResponse(204, Map.of("ETag", "7"), List.<byte[]>of().iterator());
        case "/large" -> pieces(1, 8 << 20);
        case "/stream" -> pieces(100, PIECE);
        case "/endless" -> pieces(Integer.MAX_VALUE, PIECE);
        case "/broken" -> broken();
        default -> echo(request);
      };
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return text("interrupted");
    }
  }

  private static AdminResponse text(String text) {
    return new AdminResponse(
        200, Map.of("Content-Type", "text/plain"), List.of(text.getBytes(UTF_8)).iterator());
  }

  private AdminResponse pieces(int count, int bytes) {
    Iterator<byte[]> body =
        IntStream.range(0, count)
            .mapToObj(
                i -> {
                  pieces.incrementAndGet();
                  return new byte[bytes];
                })
            .iterator();
    return new AdminResponse(200, Map.of(), body);
  }

  private static AdminResponse broken() {
    Iterator<byte[]> body =
        IntStream.range(0, 10)
            .mapToObj(
                i -> {
                  if (i == 5) {
                    throw new IllegalStateException("pretended");
                  }
                  return new byte[1];
                })
            .iterator();
    return new AdminResponse(200, Map.of("Transfer-Encoding", "gzip"), body);
  }

  private static AdminResponse echo(AdminRequest request) {
    try {
      byte[] body = request.body().readAllBytes();
      CRC32C crc = new CRC32C();
      crc.update(body);
      return text(
          String.join(
              "|",
              request.method(),
              request.path(),
              request.query(),
              request.field("X-Two"),
              body.length + ":" + crc.getValue(),
              request.source(),
              Boolean.toString(request.secure())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), running.server.adminPort());
    socket.setSoTimeout(60_000);
    sockets.add(socket);
    return socket;
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(ISO_8859_1));
  }

  private static String get(String path) {
    return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
  }

  private static String last(String path) {
    return "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  }

  private static String all(Socket socket) throws IOException {
    StringBuilder text = new StringBuilder();
    try {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      for (int c = in.read(); c >= 0; c = in.read()) {
        text.append((char) c);
      }
    } catch (SocketException e) {
      return text.toString(); // A reset is also a way to close.
    }
    return text.toString();
  }

  private static String body(String answer) {
    return answer.substring(answer.indexOf("\r\n\r\n") + 4);
  }

  private HttpResponse<String> request(HttpRequest.Builder request) throws Exception {
    return running.send(request);
  }

  private HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(
        URI.create("http://127.0.0.1:" + running.server.adminPort() + path));
  }

  private long connections() throws Exception {
    return running.metric("weir_connections{door=\"admin\"}");
  }

  private void awaitConnections(long expected) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (connections() != expected) {
      assertThat(System.nanoTime()).isLessThan(deadline);
    }
  }

  @Test
  void request_isHandedOnAsItWasSent() throws Exception {
    start();
    Socket socket = connect();
    send(
        socket,
        "PATCH /a%2Fb/%C3%A9?x=%20y&z HTTP/1.1\r\nHost: x\r\nX-Two: 1\r\nx-two: 2\r\n"
            + "Content-Length: 3\r\nConnection: close\r\n\r\nabc");
    assertThat(body(all(socket)))
        .isEqualTo("PATCH|/a%2Fb/%C3%A9|x=%20y&z|1, 2|3:" + crc("abc") + "|127.0.0.1|false");
  }

  private static long crc(String text) {
    CRC32C crc = new CRC32C();
    crc.update(text.getBytes(UTF_8));
    return crc.getValue();
  }

  @Test
  void bodyOf16MiB_isTakenWholeAndNotAByteMore() throws Exception {
    start("max-pending-memory", "100m", "request-timeout", "30s");
    String body = "x".repeat(AdminHandler.MAX_BODY_BYTES);
    HttpRequest.BodyPublisher known = HttpRequest.BodyPublishers.ofString(body);
    String expected = AdminHandler.MAX_BODY_BYTES + ":" + crc(body);
    assertThat(request(to("/a").PUT(known)).body()).contains(expected);
    HttpRequest.BodyPublisher chunked =
        HttpRequest.BodyPublishers.ofByteArrays(List.of(body.getBytes(UTF_8)));
    assertThat(request(to("/a").PUT(chunked)).body()).contains(expected);
    Socket socket = connect();
    send(
        socket,
        "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: "
            + (AdminHandler.MAX_BODY_BYTES + 1)
            + "\r\n\r\n");
    String status = "HTTP/1.1 413 ";
    // Not to the end: the connection stays open for the body until the request timeout.
    byte[] answer = socket.getInputStream().readNBytes(status.length());
    assertThat(new String(answer, ISO_8859_1)).isEqualTo(status);
    assertThat(handled).hasValue(2);
    assertThat(running.metric("weir_pending_bytes")).isLessThan(1 << 20);
  }

  @Test
  void bodyBeyondTheBudget_isRefused() throws Exception {
    start("max-pending-memory", "1m", "request-timeout", "30s");
    try {
      HttpResponse<String> refused =
          request(to("/a").PUT(HttpRequest.BodyPublishers.ofString("x".repeat(8 << 20))));
      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(refused.body()).contains("unfinished requests: too many bytes");
    } catch (IOException e) {
      // The answer was lost with the connection, which was closed while the body was being sent.
      assertThat(e).isNotInstanceOf(HttpTimeoutException.class);
    }
    assertThat(running.metric("weir_connections_evicted_total{door=\"admin\"}")).isPositive();
    assertThat(handled).hasValue(0);
    assertThat(request(to("/a").GET()).statusCode()).isEqualTo(200);
  }

  @Test
  void head_isGetWithoutABody() throws Exception {
    start();
    Socket socket = connect();
    send(socket, "HEAD /large HTTP/1.1\r\nHost: x\r\n\r\n" + last("/b"));
    String answers = all(socket);
    assertThat(answers).startsWith("HTTP/1.1 200 ").containsIgnoringCase("content-length: 8388608");
    assertThat(body(answers)).startsWith("HTTP/1.1 200 ").contains("GET|/b|");
    Socket streamed = connect();
    send(streamed, "HEAD /endless HTTP/1.1\r\nHost: x\r\n\r\n" + last("/b"));
    assertThat(body(all(streamed))).startsWith("HTTP/1.1 200 ").contains("GET|/b|");
    assertThat(pieces.get()).isLessThan(5);
  }

  @Test
  void pipelinedRequests_areAnsweredInTheirOrder() throws Exception {
    start();
    Socket socket = connect();
    send(socket, get("/1") + get("/stream") + get("/empty") + get("/2") + last("/3"));
    String answers = all(socket);
    assertThat(answers.split("HTTP/1\\.1 20", -1)).hasSize(6);
    assertThat(answers.indexOf("GET|/1|")).isPositive().isLessThan(answers.indexOf("chunked"));
    assertThat(answers.indexOf("etag") + answers.indexOf("ETag")).isPositive();
    assertThat(answers.indexOf("GET|/2|")).isLessThan(answers.indexOf("GET|/3|"));
    assertThat(answers.length()).isGreaterThan(100 * PIECE);
  }

  @Test
  void answerThatTakesLongerThanTheRequestTimeout_isNotCut() throws Exception {
    start("request-timeout", "200ms");
    Socket waits = sendUntilHandled(last("/long"));
    Socket silent = connect(); // It is closed when the request timeout is over, with some delay.
    assertThat(all(silent)).isEmpty();
    release.countDown();
    assertThat(body(all(waits))).isEqualTo("done");
  }

  /**
   * Returns the connection whose request is handled. If the machine stands still, a short request
   * timeout may cut a connection off before its request has been read; then another one is opened.
   */
  private Socket sendUntilHandled(String request) throws Exception {
    int before = handled.get();
    while (true) {
      long timedOut = timedOut();
      Socket socket = connect();
      socket.setReceiveBufferSize(4_096);
      try {
        send(socket, request);
      } catch (IOException e) {
        continue; // It was cut off while the request was being sent.
      }
      opened++;
      // Others may time out meanwhile: one connection more than needed does no harm.
      while (handled.get() == before && timedOut() == timedOut) {
        Thread.onSpinWait();
      }
      if (handled.get() > before) {
        return socket;
      }
    }
  }

  private long timedOut() throws IOException, InterruptedException {
    return running.metric("weir_connections_timed_out_total{door=\"admin\"}");
  }

  private void awaitHandled(int expected) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (handled.get() < expected) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  private static String last(String path, String token) {
    return "GET "
        + path
        + " HTTP/1.1\r\nHost: x\r\nX-Token: "
        + token
        + "\r\nConnection: close\r\n\r\n";
  }

  private int statusFor(String token) throws Exception {
    return request(to("/b").header("X-Token", token).GET()).statusCode();
  }

  /** Sends long requests of a caller until one is refused; returns those that are not. */
  private List<Socket> fill(String token) throws Exception {
    List<Socket> admitted = new ArrayList<>();
    String refused = "";
    while (!refused.startsWith("HTTP/1.1 503 ")) {
      Socket one = connect();
      one.setSoTimeout(100);
      send(one, last("/long", token));
      try {
        refused = all(one);
      } catch (IOException notAnswered) {
        admitted.add(one);
        assertThat(admitted).hasSizeLessThan(600); // A minute.
      }
    }
    assertThat(refused).contains("Retry-After: 1", "more than the server works on");
    return admitted;
  }

  @Test
  void oneToken_hasAShare_andOthersAreAnswered() throws Exception {
    start();
    List<Socket> admitted = fill("viewer");
    assertThat(admitted).hasSize(6);
    assertThat(handled).hasValue(2);
    assertThat(statusFor("viewer")).isEqualTo(503);
    for (int i = 0; i < 20; i++) {
      assertThat(statusFor("operator")).isEqualTo(200);
      assertThat(statusFor("viewer 2")).isEqualTo(200);
    }
    assertThat(running.check("user", "ann").statusCode()).isEqualTo(200);
    release.countDown();
    for (Socket socket : admitted) {
      socket.setSoTimeout(60_000);
      assertThat(body(all(socket))).isEqualTo("done");
    }
    assertThat(handled).hasValue(2 + 40 + 4);
  }

  @Test
  void tokensThatTakeAllPlaces_leaveOneForOperators() throws Exception {
    start();
    for (int i = 0; i < 4; i++) {
      assertThat(fill("viewer " + i)).hasSize(6); // 8 are worked on, and 16 wait.
    }
    awaitHandled(8);
    assertThat(statusFor("viewer 5")).isEqualTo(503);
    for (int i = 0; i < 20; i++) {
      assertThat(statusFor("operator")).isEqualTo(200);
    }
  }

  @Test
  void requestOfAClientThatHasGone_isDropped_andItsPlaceIsFree() throws Exception {
    start();
    List<Socket> admitted = fill("viewer");
    for (Socket socket : admitted) {
      socket.close();
    }
    awaitConnections(0);
    assertThat(handled).hasValue(2); // Those that wait are not worked on any more.
    assertThat(running.metric("weir_pending_bytes")).isZero();
    assertThat(fill("viewer")).hasSize(4); // Two are still worked on.
    release.countDown();
  }

  @Test
  void silentConnections_makeRoomForOthers() throws Exception {
    start("request-timeout", "1h");
    Socket known = connect();
    send(known, "GET /b HTTP/1.1\r\nHost: x\r\nX-Token: viewer\r\n\r\n");
    String ok = "HTTP/1.1 200 ";
    assertThat(new String(known.getInputStream().readNBytes(ok.length()), ISO_8859_1))
        .isEqualTo(ok);
    for (int i = 0; i < 150; i++) {
      Socket silent = connect();
      if (i % 2 == 0) {
        send(silent, "GET /b HTTP/1.1\r\nHost: x\r\n");
      }
      if (i % 10 == 9) {
        Socket operator = connect();
        send(operator, last("/b", "operator"));
        assertThat(all(operator)).startsWith(ok);
      }
    }
    assertThat(connections()).isLessThanOrEqualTo(81);
    assertThat(running.metric("weir_connections_refused_total{door=\"admin\"}")).isPositive();
    assertThat(handled.get()).isGreaterThan(15);
    send(known, last("/b", "viewer")); // It is the oldest, but not closed.
    assertThat(all(known)).contains(ok);
  }

  @Test
  void clientThatDoesNotRead_holdsUpNobody_andIsCutOff() throws Exception {
    start("request-timeout", "500ms");
    for (int i = 0; i < 30; i++) {
      sendUntilHandled(get("/endless"));
    }
    assertThat(request(to("/b").GET()).body()).contains("GET|/b|");
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (timedOut() < opened) {
      assertThat(System.nanoTime()).isLessThan(deadline);
    }
    assertThat(pieces.get()).isLessThan(opened * 200); // Pieces of 64 KiB; sockets hold some MiB.
    assertThat(running.metric("weir_pending_bytes")).isLessThan(64L << 20);
  }

  @Test
  void clientThatReadsSlowly_getsItAll() throws Exception {
    start("request-timeout", "500ms");
    // A client that does not read for half a second is cut off, even if its machine stood still.
    Retried.run(this::readSlowly);
  }

  /** Reads an answer of 8 MiB in a second and more. */
  private void readSlowly() throws Exception {
    Socket socket = connect();
    send(socket, last("/large"));
    InputStream in = socket.getInputStream();
    long begun = System.nanoTime();
    long read = 0;
    byte[] some = new byte[256 << 10];
    for (int n = in.read(some); n >= 0; n = in.read(some)) {
      read += n;
      do {
        assertThat(request(to("/b").GET()).statusCode()).isEqualTo(200);
      } while (System.nanoTime() - begun < read * TimeUnit.SECONDS.toNanos(1) / (8 << 20));
    }
    assertThat(read).isGreaterThan(8 << 20);
  }

  @Test
  void clientGoneInTheMiddle_endsTheIteration() throws Exception {
    start();
    Socket socket = connect();
    send(socket, get("/endless"));
    assertThat(socket.getInputStream().readNBytes(1 << 20)).hasSize(1 << 20);
    socket.close();
    awaitConnections(0);
    String before = request(to("/b").GET()).body();
    int asked = pieces.get();
    for (int i = 0; i < 20; i++) {
      assertThat(request(to("/b").GET()).body()).isEqualTo(before);
    }
    assertThat(pieces.get()).isBetween(asked, asked + 2);
  }

  @Test
  void handlerThatFails_is500AndAPieceThatFailsCutsTheAnswer() throws Exception {
    start();
    assertThat(request(to("/fail").GET()).statusCode()).isEqualTo(500);
    Socket socket = connect();
    send(socket, get("/broken"));
    String answer = all(socket);
    assertThat(answer).startsWith("HTTP/1.1 200 ").doesNotContain("gzip", "\r\n0\r\n");
    assertThat(request(to("/b").GET()).statusCode()).isEqualTo(200);
  }

  @Test
  void framingInDoubt_isRefusedAndNothingAfterItIsRead() throws Exception {
    start();
    for (String field : List.of("Content-Length: 5", "Transfer-Encoding: chunked", "Host: y")) {
      Socket socket = connect();
      send(
          socket,
          "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n" + field + "\r\n\r\n" + get("/b"));
      assertThat(all(socket)).as(field).startsWith("HTTP/1.1 400 ").doesNotContain("GET|/b");
    }
    assertThat(handled).hasValue(0);
  }

  @Test
  void longestPathOfASubject_isTakenAndALongerOneRefused() throws Exception {
    start();
    Socket longest = connect();
    send(longest, last("/" + "%41".repeat(6_200)));
    assertThat(all(longest)).startsWith("HTTP/1.1 200 ");
    Socket longer = connect();
    send(longer, last("/" + "%41".repeat(7_000)));
    assertThat(all(longer)).startsWith("HTTP/1.1 414 ");
  }

  @Test
  void portForDecisions_hasNothingOfIt_norTheOtherWayRound() throws Exception {
    start("token-file", tokens().toString());
    assertThat(running.get("/a").statusCode()).isEqualTo(401);
    assertThat(
            running
                .send(
                    HttpRequest.newBuilder(running.uri("/a"))
                        .header("Authorization", "Bearer sixteen-and-more-letters")
                        .GET())
                .statusCode())
        .isEqualTo(404);
    assertThat(handled).hasValue(0);
    assertThat(request(to("/v1/check").GET()).body()).startsWith("GET|/v1/check|");
    assertThat(request(to("/metrics").GET()).body()).startsWith("GET|/metrics|");
  }

  private Path tokens() throws IOException {
    return java.nio.file.Files.writeString(folder.resolve("tokens"), "sixteen-and-more-letters\n");
  }

  @Test
  void tls_isThatOfTheOtherPortsWithoutClientCertificates() throws Exception {
    Pem server = Pem.make(folder, "server");
    Pem client = Pem.make(folder, "client");
    start(
        "tls-cert",
        server.certificate().toString(),
        "tls-key",
        server.key().toString(),
        "tls-client-ca",
        client.certificate().toString());
    HttpClient http = HttpClient.newBuilder().sslContext(server.trustedBy()).build();
    URI uri = URI.create("https://127.0.0.1:" + running.server.adminPort() + "/b");
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(60)).build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.body()).startsWith("GET|/b|").endsWith("|true");
    assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
  }

  @Test
  void stoppingServer_letsRequestsEnd() throws Exception {
    start();
    Socket socket = connect();
    send(socket, get("/long"));
    awaitHandled(1);
    CompletableFuture<Void> drained = drain(Duration.ofSeconds(60));
    try (LogCapture log = new LogCapture()) {
      assertThat(drained).isNotDone();
      release.countDown();
      assertThat(body(all(socket))).isEqualTo("done");
      drained.get(60, TimeUnit.SECONDS);
      assertThat(log.text()).doesNotContain("not all requests");
    }
  }

  private CompletableFuture<Void> drain(Duration timeout) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            running.server.drain(timeout);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  @Test
  void requestThatNeverEnds_isCutOffWhenTheServerStops() throws Exception {
    start();
    Socket socket = connect();
    send(socket, get("/long"));
    awaitHandled(1);
    try {
      drain(Duration.ofMillis(100)).get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new AssertionError(e);
    }
    assertThat(all(socket)).isEmpty();
  }
}
