package dev.weir.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.ForwardingDecider;
import dev.weir.identity.ClientAddress;
import dev.weir.rules.Request;
import dev.weir.testkit.LateStore;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of adapters of servers that are notified of clients which go away. Besides, the
 * application has {@code GET /events}, which sends an event and stays open, and {@code GET
 * /silent}, which never answers.
 */
public abstract class EventLoopContract extends MiddlewareContract {
  private static final int AT_ONCE = 50;
  private static final int MEGABYTE = 1 << 20;

  /**
   * Returns the number of clients that have gone before their answer, by the application's count.
   */
  protected abstract long gone();

  /** Makes servers listen on a Unix socket from now on. */
  protected abstract void listenOn(Path socket);

  /** An engine that counts charged and returned permits. */
  private static final class Ledger extends ForwardingDecider {
    final LongAdder charged = new LongAdder();
    final LongAdder returned = new LongAdder();

    Ledger(Engine engine) {
      super(engine);
    }

    @Override
    public void decide(Request request, Consumer<? super Answer> done) {
      super.decide(
          request,
          answer -> {
            if (answer.allowed()) {
              charged.increment();
            }
            done.accept(answer);
          });
    }

    @Override
    public void refund(Request request, Answer answer, LongConsumer done) {
      super.refund(
          request,
          answer,
          permits -> {
            returned.add(permits);
            done.accept(permits);
          });
    }
  }

  @Test
  void cancelledWhileTheStoreIsAsked_areGivenBackOnce() throws Exception {
    LateStore store = new LateStore();
    Ledger ledger = new Ledger(engine(store));
    start(limiter(ledger).descriptor("many={ip}").build());
    // Over HTTP/1 each of them costs a connection.
    int requests = version() == HttpClient.Version.HTTP_2 ? 10_000 : 200;
    for (int sent = 0; sent < requests; sent += AT_ONCE) {
      List<CompletableFuture<HttpResponse<String>>> waiting = new ArrayList<>();
      for (int i = 0; i < AT_ONCE; i++) {
        waiting.add(sendAsync(request("/hello")));
      }
      until(() -> store.due() == AT_ONCE);
      waiting.forEach(each -> each.cancel(true));
      long all = (long) sent + AT_ONCE;
      until(() -> gone() == all);
      store.answer();
      until(() -> store.answer() >= 0 && ledger.returned.sum() == all);
    }
    assertThat(ledger.charged.sum()).isEqualTo(requests);
    assertThat(store.due()).isZero();
    CompletableFuture<HttpResponse<String>> served = sendAsync(request("/hello"));
    until(() -> store.due() == 1);
    store.answer();
    assertThat(served.join().statusCode()).isEqualTo(200);
    assertThat(served.join().headers().firstValue("RateLimit").orElseThrow()).contains("r=99999;");
  }

  @Test
  void clientGoesWhileItWaits_leavesTheQueue() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("turn={ip}").build());
    assertThat(get("/hello").statusCode()).isEqualTo(200);
    CompletableFuture<HttpResponse<String>> waiting = sendAsync(request("/hello"));
    until(() -> engine.metrics().queues().waiting() == 1);
    waiting.cancel(true);
    until(() -> engine.metrics().queues().left() == 1);
    assertThat(engine.metrics().queues().waiting()).isZero();
    ticker.advance(1_000_000_000L);
    assertThat(get("/hello").statusCode()).as("it was not charged").isEqualTo(200);
  }

  /**
   * A client sends all but the last byte of a body and goes away: by an orderly end of its
   * connection (FIN), which comes behind the body's bytes, or by a reset (RST).
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void clientGoesWhileItUploads_leavesTheQueue(boolean reset) throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("turn={ip}").build());
    assertThat(get("/hello").statusCode()).isEqualTo(200);
    try (Socket client = connect()) {
      String head = "POST /echo HTTP/1.1\r\nHost: weir\r\nContent-Length: " + MEGABYTE + "\r\n\r\n";
      client.getOutputStream().write(head.getBytes(US_ASCII));
      client.getOutputStream().write(new byte[MEGABYTE - 1]);
      until(() -> engine.metrics().queues().waiting() == 1);
      client.setSoLinger(reset, 0);
    }
    until(() -> engine.metrics().queues().left() == 1);
    assertThat(engine.metrics().queues().waiting()).isZero();
    ticker.advance(1_000_000_000L);
    assertThat(get("/hello").statusCode()).as("it was not charged").isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(ints = {100, MEGABYTE, 5 * MEGABYTE})
  void uploadWaits_isServedWholeInItsTurn(int bytes) throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("turn={ip}").build());
    assertThat(get("/hello").statusCode()).isEqualTo(200);
    String body = "0123456789abcdef".repeat(bytes / 16 + 1);
    CompletableFuture<HttpResponse<String>> waiting =
        sendAsync(request("/echo").POST(HttpRequest.BodyPublishers.ofString(body)));
    until(() -> engine.metrics().queues().waiting() == 1);
    assertThat(get("/health").statusCode()).as("others are served").isEqualTo(200);
    ticker.advance(1_000_000_000L);
    assertThat(waiting.join().statusCode()).isEqualTo(200);
    assertThat(waiting.join().body().equals(body)).as("the body is the one sent").isTrue();
  }

  /** A stream may stay open for hours; its status is that of its head. */
  @Test
  void openStream_isGivenBackAtItsHead() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("ip={ip}").refundUnless(401).build());
    try (Socket client = connect()) {
      client
          .getOutputStream()
          .write("GET /events HTTP/1.1\r\nHost: weir\r\n\r\n".getBytes(US_ASCII));
      assertThat(client.getInputStream().read()).as("the head is sent").isEqualTo('H');
      until(() -> left(engine) == 2);
    }
  }

  @Test
  void clientLeavesAnOpenStream_seatIsHeldUntilThen() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("seat={ip}").build());
    for (boolean reset : new boolean[] {false, true}) {
      try (Socket client = connect()) {
        client
            .getOutputStream()
            .write("GET /events HTTP/1.1\r\nHost: weir\r\n\r\n".getBytes(US_ASCII));
        assertThat(client.getInputStream().read()).as("the head is sent").isEqualTo('H');
        for (int i = 0; i < 6; i++) {
          ticker.advance(10_000_000_000L); // It is renewed each third of 30 seconds.
        }
        assertThat(left(engine, "seat")).isEqualTo(1);
        client.setSoLinger(reset, 0);
      }
      until(() -> left(engine, "seat") == 2);
    }
  }

  @Test
  void clientLeavesBeforeItsAnswer_seatIsHeldUntilThen() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("seat={ip}").build());
    for (boolean reset : new boolean[] {false, true}) {
      try (Socket client = connect()) {
        client
            .getOutputStream()
            .write("GET /silent HTTP/1.1\r\nHost: weir\r\n\r\n".getBytes(US_ASCII));
        until(() -> left(engine, "seat") == 1);
        client.setSoLinger(reset, 0);
      }
      until(() -> left(engine, "seat") == 2);
    }
  }

  @Test
  void unixSocket_isTrustedOnlyIfSaidSo(@TempDir Path folder) throws Exception {
    Path socket = folder.resolve("weir.sock");
    listenOn(socket);
    ClientAddress behindProxy =
        ClientAddress.builder().trustUnixSocket(true).header("X-Forwarded-For").build();
    Served served =
        serve(
            List.of(
                limiter(engine(new MemoryStore()))
                    .descriptor("one={ip}")
                    .address(behindProxy)
                    .build(),
                limiter(engine(new MemoryStore())).descriptor("ip={ip}").build()));
    try {
      assertThat(statusLine(socket, "203.0.113.7")).contains("200");
      assertThat(statusLine(socket, "203.0.113.7")).contains("429");
      assertThat(statusLine(socket, "203.0.113.8")).contains("200");
      assertThat(statusLine(socket, "203.0.113.9"))
          .as("the second limiter does not trust the socket")
          .contains("429");
    } finally {
      served.server().close();
    }
  }

  private static String statusLine(Path socket, String forwardedFor) throws Exception {
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
      String request =
          "GET /hello HTTP/1.1\r\nHost: weir\r\nConnection: close\r\nX-Forwarded-For: "
              + forwardedFor
              + "\r\n\r\n";
      channel.write(ByteBuffer.wrap(request.getBytes(US_ASCII)));
      // Its end may come seconds later: Armeria closes such connections without haste.
      InputStream answer = Channels.newInputStream(channel);
      String line = new BufferedReader(new InputStreamReader(answer, US_ASCII)).readLine();
      return line == null ? "" : line;
    }
  }
}
