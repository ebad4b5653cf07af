package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Charges;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of work that really queues up in an event loop's sockets, through a real port. */
class BacklogTest {
  private static final int COMMANDS = 10_000;
  private static final long DECISION_NANOS = 200_000;

  @TempDir private Path folder;

  /** A store that takes the processor for a while for every decision, on the event loop. */
  private static final class SlowStore extends ForwardingStore<MemoryStore> {
    SlowStore() {
      super(new MemoryStore());
    }

    @Override
    public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
      long end = System.nanoTime() + DECISION_NANOS;
      while (System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      super.decide(charges, nowNanos, done);
    }
  }

  /** Two seconds of work, while a request may wait for 40 ms. */
  @Test
  @Timeout(120)
  void partOfABacklogIsDecided_andTheRestToldThatThereWasNoTime() throws Exception {
    SharedStoreConnection shared = SharedStores.of(new SlowStore());
    try (RunningServer running = RunningServer.start(folder, shared, "max-wait", "40ms");
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), running.server.respPort())) {
      byte[] commands =
          "WEIR.CHECK test 1 tenant a\r\n".repeat(COMMANDS).getBytes(StandardCharsets.US_ASCII);
      CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> send(socket, commands));
      BufferedReader replies =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
      int decided = 0;
      int overloaded = 0;
      while (decided + overloaded < COMMANDS) {
        switch (String.valueOf(replies.readLine())) {
          case "WITHIN_LIMIT", "OVER_LIMIT" -> decided++;
          case "OVERLOADED" -> overloaded++;
          case "null" -> throw new IOException("closed after " + decided + ", " + overloaded);
          default -> {}
        }
      }
      sent.get(30, TimeUnit.SECONDS);
      assertThat(overloaded).as("overloaded").isPositive();
      assertThat(decided).as("decided").isGreaterThan(COMMANDS / 100);
      assertThat(running.metric("weir_overloaded_total")).isEqualTo(overloaded);
    }
  }

  private static void send(Socket socket, byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
