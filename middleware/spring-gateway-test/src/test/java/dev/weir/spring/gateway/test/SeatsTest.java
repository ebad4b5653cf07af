package dev.weir.spring.gateway.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of limits at the same time in routes: a seat is held until the answer's last byte. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SeatsTest {
  private static final int MIXED = 200;
  private static final int AT_ONCE = 10;

  private final Backend backend = new Backend();
  private final Gateway gateway = new Gateway(backend);

  @BeforeAll
  void warmUp() {
    assertThat(gateway.status("/seat/first", "X-Seat", "first")).isEqualTo(200);
  }

  @AfterAll
  void stop() {
    gateway.close();
    backend.close();
  }

  private long free(String route, String seat) {
    Descriptor descriptor =
        route.equals("own-seat")
            ? Descriptor.of("route", route, "key", "127.0.0.1")
            : Descriptor.of("seat", seat);
    AtomicLong free = new AtomicLong(-1);
    gateway
        .domains()
        .peek(
            new Request("gateway", List.of(descriptor), 1),
            answer ->
                free.set(Objects.requireNonNull(answer.statuses().get(0).decision()).remaining()));
    return free.get();
  }

  private void awaitFree(String route, String seat, long free) {
    Gateway.await(route + ": " + free + " free", () -> free(route, seat) == free);
  }

  /** Sends a request whose answer has begun, and stays open. */
  private Socket open(String route, String seat) throws IOException {
    Socket client = new Socket(InetAddress.getLoopbackAddress(), gateway.port());
    String head =
        "GET /" + route + "/a?open HTTP/1.1\r\nHost: localhost\r\nX-Seat: " + seat + "\r\n\r\n";
    client.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    assertThat(client.getInputStream().read()).isEqualTo('H');
    return client;
  }

  @ParameterizedTest
  @ValueSource(strings = {"seat", "own-seat"})
  void answerHasBegun_seatIsHeldUntilItsEnd(String route) throws IOException {
    try (Socket one = open(route, "begun");
        Socket two = open(route, "begun")) {
      assertThat(one.isConnected() && two.isConnected()).isTrue();
      for (int i = 0; i < 6; i++) {
        gateway.ticker().advance(10_000_000_000L); // It is renewed each third of 30 seconds.
      }
      assertThat(free(route, "begun")).isZero();
      assertThat(gateway.status("/" + route + "/a", "X-Seat", "begun")).isEqualTo(429);
      backend.ends.release();
      awaitFree(route, "begun", 1);
    } finally {
      backend.ends.release();
    }
    awaitFree(route, "begun", 2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"seat", "own-seat"})
  void clientLeaves_seatIsGivenBack(String route) throws IOException {
    Socket client = open(route, "gone");
    awaitFree(route, "gone", 1);
    client.close();
    awaitFree(route, "gone", 2);
    backend.ends.release();
  }

  /** Each try is decided for itself, and the one before it holds nothing any more. */
  @Test
  void retryIsFurtherOut_requestHoldsOneSeat() {
    int calls = backend.calls.get();
    assertThat(gateway.status("/seat-retry/a?wrong", "X-Seat", "retry")).isEqualTo(401);
    assertThat(backend.calls.get() - calls).as("one, and four more").isEqualTo(5);
    awaitFree("seat-retry", "retry", 2);
  }

  @Test
  void mixedEndings_leaveNoSeatBehind() {
    List<String> paths = List.of("/seat/a", "/seat/a?wrong", "/own-seat/a", "/seat-retry/a");
    for (int sent = 0; sent < MIXED; sent += AT_ONCE) {
      List<CompletableFuture<?>> answers = new ArrayList<>();
      for (int i = 0; i < AT_ONCE; i++) {
        CompletableFuture<?> answer =
            gateway.send("GET", paths.get((sent + i) % paths.size()), "X-Seat", "mixed");
        if (i % 5 == 4) {
          answer.cancel(true);
        } else {
          answers.add(answer);
        }
      }
      answers.forEach(CompletableFuture::join);
    }
    awaitFree("seat", "mixed", 2);
    awaitFree("own-seat", "mixed", 2);
  }
}
