package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Charges;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.settings.ServerSettings;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a server stops in its time, whatever hangs. The tests' time limits are generous; what
 * is tested is that the end comes at all.
 */
class StopTest {
  @TempDir private Path folder;
  private final CountDownLatch never = new CountDownLatch(1);
  private LogCapture log;

  @BeforeEach
  void listen() {
    log = new LogCapture();
  }

  @AfterEach
  void letGo() {
    never.countDown();
    log.close();
  }

  private void hang() {
    boolean interrupted = false;
    while (never.getCount() > 0) {
      try {
        never.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private RunningServer start(HangingStore store) throws Exception {
    return RunningServer.start(
        folder,
        SharedStores.of(store),
        "drain-delay",
        "0s",
        "drain-timeout",
        "100ms",
        "state-dir",
        folder.resolve("state").toString());
  }

  /** A store that hangs at the point that the test chooses. */
  private class HangingStore extends ForwardingStore<MemoryStore> {
    private final boolean whenItDecides;
    final CountDownLatch asked = new CountDownLatch(1);

    HangingStore(boolean whenItDecides) {
      super(new MemoryStore());
      this.whenItDecides = whenItDecides;
    }

    @Override
    public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
      asked.countDown();
      if (whenItDecides) {
        hang();
      }
      super.decide(charges, nowNanos, done);
    }

    @Override
    public void close() {
      if (!whenItDecides) {
        hang();
      }
      super.close();
    }
  }

  /** A signal may come before the caller of start has the server. */
  @Test
  @Timeout(120)
  void serverThatIsStoppedWhileItBegins_endsInOrderAndIsNeverReady() throws Exception {
    Path state = folder.resolve("state");
    try (RunningServer running =
        RunningServer.start(folder, StopTest::drain, "state-dir", state.toString())) {
      assertThat(running.server.ready()).isFalse();
      running.server.awaitStopped();
      assertThat(log.text()).contains("stopped").doesNotContain("ready: ");
      assertThat(state.resolve("running")).doesNotExist();
    }
  }

  private static void drain(WeirServer server) {
    try {
      server.drain();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  @Timeout(120)
  void standardErrorThatBlocks_keepsNothingFromStopping() throws Exception {
    PrintStream before = System.err;
    System.setErr(
        new PrintStream(
            new OutputStream() {
              @Override
              public void write(int b) {
                hang();
              }
            },
            true,
            StandardCharsets.UTF_8));
    try (RunningServer running = RunningServer.start(folder, "drain-delay", "0s")) {
      assertThat(running.check("user", "alice").statusCode()).isEqualTo(200);
      running.server.drain();
      assertThat(running.server.left()).isEmpty();
    } finally {
      never.countDown();
      System.setErr(before);
      Logs.install(ServerSettings.defaults(), Ticker.system());
    }
  }

  @Test
  @Timeout(120)
  void storeThatDoesNotClose_isLeftBehind() throws Exception {
    RunningServer running = start(new HangingStore(false));
    running.server.drain();
    assertThat(log.await("stop: ")).startsWith("stop: store did not end within ");
    assertThat(log.await("stopped")).isEqualTo("stopped, except store");
    assertThat(running.server.ready()).isFalse();
  }

  /** A call of the store that never returns blocks an event loop, in a request over every port. */
  @Test
  @Timeout(120)
  void eventLoopsThatHang_areLeftBehind() throws Exception {
    HangingStore store = new HangingStore(true);
    RunningServer running = start(store);
    try (EveryDoor doors = new EveryDoor(running.server)) {
      for (int i = 0; i < 20; i++) {
        doors.request("tenant", "t" + i);
      }
      assertThat(store.asked.await(30, TimeUnit.SECONDS)).isTrue();
      running.server.drain();
      assertThat(log.await("stopped")).startsWith("stopped");
    } finally {
      never.countDown();
    }
  }

  /** A loop that goes on later admits requests that no image would have. */
  @Test
  @Timeout(120)
  void grpcLoopThatHangs_leavesTheCountsUnsaved() throws Exception {
    HangingStore store = new HangingStore(true);
    RunningServer running = start(store);
    try (EveryDoor doors = new EveryDoor(running.server)) {
      var unused = doors.rls("tenant", "t");
      assertThat(store.asked.await(30, TimeUnit.SECONDS)).isTrue();
      running.server.drain();
      assertThat(log.await("stop: ")).isEqualTo("stop: ports: grpc: an event loop still runs");
      assertThat(log.await("stopped")).isEqualTo("stopped, except ports, counts");
      assertThat(running.server.left()).containsExactly("ports", "counts");
      assertThat(folder.resolve("state/running")).exists();
      assertThat(folder.resolve("state/rules.kept")).exists();
    } finally {
      never.countDown();
    }
  }

  @Test
  @Timeout(120)
  void partsBehindOneThatHangsOrFails_areEnded() throws Exception {
    Parts parts = new Parts();
    CountDownLatch last = new CountDownLatch(1);
    parts.add("fourth", Duration.ofSeconds(30), last::countDown);
    parts.add(
        "second",
        Duration.ofSeconds(30),
        () -> {
          throw new OutOfMemoryError("pretended");
        });
    parts.add(
        "third",
        () -> Duration.ofSeconds(30),
        () -> {
          throw new IOException("it may go on");
        },
        () -> {});
    parts.add("first", Duration.ofMillis(10), this::hang);
    parts.stop();
    assertThat(last.getCount()).isZero();
    assertThat(parts.left()).containsExactly("first", "third", "second");
    assertThat(log.await("stop: "))
        .isEqualTo("stop: first did not end within 10 ms; the server stops without it");
    assertThat(log.await("stop: ")).isEqualTo("stop: third: it may go on");
    assertThat(log.await("stop: ")).isEqualTo("stop: second failed");
  }

  @Test
  void closingSteps_allRunAndTheFirstFailureIsThrown() {
    List<String> ran = new ArrayList<>();
    ClosingSteps steps = new ClosingSteps();
    steps.run(
        () -> {
          throw new IOException("first");
        });
    steps.run(() -> ran.add("second"));
    steps.run(
        () -> {
          throw new IllegalStateException("third");
        });
    steps.run(() -> ran.add("fourth"));
    assertThat(ran).containsExactly("second", "fourth");
    assertThatThrownBy(steps::end)
        .isInstanceOf(IOException.class)
        .hasMessage("first")
        .satisfies(first -> assertThat(first.getSuppressed()).hasSize(1));
  }

  @Test
  void partsOfAServerThatDoesNotStart_areAbandonedOnceInReverse() throws Exception {
    Parts parts = new Parts();
    List<String> abandoned = new ArrayList<>();
    parts.add("first", Duration.ZERO, () -> abandoned.add("first"));
    parts.add("second", () -> Duration.ZERO, this::hang, () -> abandoned.add("second"));
    parts.add(
        "third",
        Duration.ZERO,
        () -> {
          throw new IllegalStateException("pretended");
        });
    parts.abandon();
    parts.stop();
    parts.abandon();
    assertThat(abandoned).containsExactly("second", "first");
    assertThat(parts.left()).containsExactly("third");
  }

  /** A process that ended earlier would cut off the save of the counts. */
  @Test
  @Timeout(120)
  void stopDuringAStartThatFails_waitsForIt() throws Exception {
    Parts parts = new Parts();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    List<String> ended = new CopyOnWriteArrayList<>();
    parts.add(
        "counts",
        () -> Duration.ofHours(1),
        this::hang,
        () -> {
          begun.countDown();
          goOn.await();
          ended.add("counts");
        });
    Thread start = new Thread(parts::abandon);
    start.start();
    begun.await();
    CompletableFuture<List<String>> stopped =
        CompletableFuture.supplyAsync(
            () -> {
              stop(parts);
              return List.copyOf(ended);
            });
    goOn.countDown();
    assertThat(stopped.get()).containsExactly("counts");
    start.join();
    assertThat(parts.left()).isEmpty();
  }

  private static void stop(Parts parts) {
    try {
      parts.stop();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The store waits for its calls in flight before it gives back what it holds. */
  @Test
  void longestDrain_countsTheTimeoutOfAStoreAndTheTimeOfASave() throws Exception {
    try (RunningServer running =
        RunningServer.start(
            folder,
            SharedStores.of(new MemoryStore()),
            "drain-timeout",
            "20s",
            "store-timeout",
            "4s",
            "request-timeout",
            "10s",
            "state-dir",
            folder.resolve("state").toString())) {
      assertThat(running.server.longestDrain()).isEqualTo(Duration.ofSeconds(20 + 13 + 4 + 21));
    }
  }

  @Test
  void longestDrain_isWhatTheSettingsSayAndThirteenSeconds() throws Exception {
    try (RunningServer running =
        RunningServer.start(Map.of("drain-delay", "3s", "drain-timeout", "20s"))) {
      assertThat(running.server.longestDrain()).isEqualTo(Duration.ofSeconds(36));
      running.server.endDrainDelay();
    }
  }
}
