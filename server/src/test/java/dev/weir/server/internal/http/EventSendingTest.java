package dev.weir.server.internal.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.EventStream;
import dev.weir.testkit.FakeTicker;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerResponse;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EventSendingTest {
  private final FakeTicker ticker = new FakeTicker();
  private final StringBuilder written = new StringBuilder();
  private final Queue<String> events = new ArrayDeque<>();
  private boolean full;
  private boolean closed;
  private boolean ended;
  private boolean over;
  private boolean gone;

  private final EventSending sending =
      new EventSending(
          proxy(HttpConnection.class),
          proxy(HttpServerResponse.class),
          new Stream(),
          ticker,
          this::nothing);

  private void nothing() {}

  private final class Stream implements EventStream {
    @Override
    public void begin(Runnable wake) {}

    @Override
    public byte @Nullable [] next() {
      String event = events.poll();
      return event == null ? over ? null : new byte[0] : event.getBytes(UTF_8);
    }

    @Override
    public void end() {
      gone = true;
    }
  }

  /** Returns a connection or an answer that the fields control. */
  private <T> T proxy(Class<T> type) {
    Object made =
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) ->
                switch (method.getName()) {
                  case "closed" -> closed;
                  case "ended" -> ended;
                  case "writeQueueFull" -> full;
                  case "write" -> {
                    written.append((Buffer) arguments[0]);
                    yield null;
                  }
                  case "end" -> {
                    ended = true;
                    yield null;
                  }
                  case "close" -> {
                    closed = true;
                    yield null;
                  }
                  default -> throw new UnsupportedOperationException(method.toString());
                });
    return type.cast(made);
  }

  @Test
  void events_areSentAsTheyCome() {
    events.add("a");
    events.add("b");
    sending.send();
    assertThat(written).hasToString("ab");
    sending.send();
    events.add("c");
    sending.send();
    assertThat(written).hasToString("abc");
    over = true;
    sending.send();
    assertThat(ended).isTrue();
  }

  @Test
  void clientThatDoesNotRead_getsNothing_andIsCutOffAfterThirtySeconds() {
    full = true;
    events.add("a");
    for (int i = 0; i <= 30; i++) {
      sending.send();
      assertThat(closed).as("after %d s", i).isFalse();
      ticker.advance(Duration.ofSeconds(1));
    }
    assertThat(written).isEmpty();
    sending.send();
    assertThat(closed).isTrue();
    assertThat(gone).isTrue();
  }

  @Test
  void clientThatReadsAgain_isGivenItsTimeAnew() {
    full = true;
    sending.send();
    ticker.advance(Duration.ofSeconds(29));
    sending.send();
    full = false;
    sending.send();
    full = true;
    for (int i = 0; i < 30; i++) {
      sending.send();
      ticker.advance(Duration.ofSeconds(1));
    }
    assertThat(closed).isFalse();
  }

  @Test
  void clientThatHasGone_endsTheStream() {
    closed = true;
    sending.send();
    assertThat(gone).isTrue();
    assertThat(written).isEmpty();
  }
}
