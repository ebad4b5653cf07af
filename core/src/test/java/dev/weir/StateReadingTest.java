package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of stores that answer while their counts are read, which happens when the test says so. */
class StateReadingTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Policy TEN = daily("p", 10).build();

  @TempDir private Path folder;
  private final List<String> log = new ArrayList<>();

  private static Policy.Builder daily(String name, long permits) {
    return Policy.builder(Quota.perDay(permits)).name(name);
  }

  private final StateFolder.Log lines =
      new StateFolder.Log() {
        @Override
        public void info(String line) {
          log.add(line);
        }

        @Override
        public void warning(String line) {
          log.add("warning: " + line);
        }
      };

  /** A process whose counts are read by {@link #read}. */
  private final class Run implements AutoCloseable {
    private final List<Runnable> readings = new ArrayList<>();
    final StateFolder state;
    final MemoryStore store;
    final Binding binding;

    Run(StateDurability durability) throws IOException {
      state =
          StateFolder.builder(folder)
              .durability(durability)
              .fileBytes(16 << 10)
              .log(lines)
              .readBy(readings::add)
              .open();
      store = state.store("rules", "its own", 10_000, 1 << 22);
      binding = store.bind("p", TEN, now());
      state.begin();
    }

    Run() throws IOException {
      this(StateDurability.PROCESS);
    }

    long now() {
      return state.ticker().nanos();
    }

    void read() throws Exception {
      readings.forEach(Runnable::run);
      assertThat(state.awaitBegun(LONG)).isTrue();
    }

    Reason request(Binding of, long fingerprint, long permits) {
      return store.decision(of, fingerprint, permits, now()).reason();
    }

    Reason request(long fingerprint, long permits) {
      return request(binding, fingerprint, permits);
    }

    void stop() throws IOException {
      state.save();
      state.close();
    }

    @Override
    public void close() {
      state.die();
    }
  }

  /** Uses 7 permits of key 1, and all of some others. */
  private void runOnce(boolean inOrder) throws Exception {
    try (Run run = new Run()) {
      run.read();
      assertThat(run.request(1, 7)).isEqualTo(Reason.WITHIN_LIMIT);
      for (long key = 2; key < 500; key++) {
        assertThat(run.request(key, 10)).isEqualTo(Reason.WITHIN_LIMIT);
      }
      if (inOrder) {
        run.stop();
      }
    }
  }

  private Map<String, String> files() throws IOException {
    Map<String, String> found = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path each : files.toList()) {
        byte[] bytes = Files.readAllBytes(each);
        found.put(each.getFileName().toString(), Integer.toString(Arrays.hashCode(bytes)));
      }
    }
    return found;
  }

  @ParameterizedTest
  @EnumSource(StateDurability.class)
  void keys_areAnsweredByTheFailureModeUntilTheyAreRead(StateDurability durability)
      throws Exception {
    runOnce(durability != StateDurability.PROCESS);
    try (Run run = new Run(durability)) {
      Policy allowing = daily("a", 10).sharing(Sharing.STRICT.onFailure(FailureMode.ALLOW)).build();
      Binding allow = run.store.bind("a", allowing, run.now());
      for (int i = 0; i < 20; i++) {
        assertThat(run.request(1, 1)).isEqualTo(Reason.UNCERTAIN);
        Decision uncounted = run.store.decision(allow, 1, 1, run.now());
        assertThat(uncounted.allowed()).isTrue();
        assertThat(uncounted.reason()).isEqualTo(Reason.UNCERTAIN);
        assertThat(run.store.refund(allow, 1, 1, uncounted, run.now())).isZero();
      }
      assertThat(PackedDecision.reason(run.store.decide(run.binding, 9, 1, run.now())))
          .isEqualTo(Reason.UNCERTAIN);
      Batch batch = new Batch(2).add(run.binding, 1, 1).add(allow, 1, 1);
      run.store.decide(batch, run.now());
      assertThat(batch.allowed(0)).isFalse();
      assertThat(batch.allowed(1)).isTrue();
      Charges both = new Charges().add(run.binding, 1, 1).add(allow, 1, 1);
      run.store.decide(both, run.now());
      assertThat(both.allowed()).isFalse();
      assertThat(run.store.glance(new Charges().add(allow, 1, 1).peek(), run.now())).isFalse();
      assertThatThrownBy(() -> run.store.reset(run.binding, 1, run.now()))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessage("reset: the counts are still being read");
      assertThat(run.state.isComplete()).isFalse();
      assertThat(run.state.awaitBegun(Duration.ZERO)).isFalse();

      run.read();
      assertThat(run.state.isComplete()).isEqualTo(durability != StateDurability.NONE);
      assertThat(run.request(1, 4)).isEqualTo(Reason.OVER_LIMIT);
      assertThat(run.request(1, 3)).isEqualTo(Reason.WITHIN_LIMIT);
      assertThat(run.request(400, 1)).isEqualTo(Reason.OVER_LIMIT);
      assertThat(run.request(500, 10)).isEqualTo(Reason.WITHIN_LIMIT);
      assertThat(run.request(allow, 1, 10)).isEqualTo(Reason.WITHIN_LIMIT);
      run.store.decide(both.clear().add(run.binding, 600, 1).add(allow, 600, 1), run.now());
      assertThat(both.allowed()).isTrue();
      assertThat(run.store.reset(run.binding, 400, run.now())).isTrue();
      assertThat(run.request(400, 10)).isEqualTo(Reason.WITHIN_LIMIT);
      run.store.verify();
    }
  }

  /** The journal of the new run begins before the first decision. */
  @Test
  void deathAfterTheReading_forgetsNothing() throws Exception {
    runOnce(false);
    for (Reason expected : List.of(Reason.WITHIN_LIMIT, Reason.OVER_LIMIT)) {
      try (Run run = new Run()) {
        run.read();
        assertThat(run.request(1, 3)).isEqualTo(expected);
      }
    }
    assertThat(log).noneMatch(line -> line.startsWith("warning"));
  }

  @Test
  void policiesPutInForceDuringTheReading_areInForceAfterIt() throws Exception {
    runOnce(false);
    try (Run run = new Run()) {
      run.store.retire("p", run.now());
      Binding twelve = run.store.bind("p", daily("p", 12).build(), run.now());
      Binding more = run.store.variant(twelve, daily("p", 20).build());
      Binding hourly =
          run.store.bind("h", Policy.builder(Quota.perHour(5)).name("h").build(), run.now());
      run.store.retire("h", run.now());
      Binding bucket =
          run.store.bind("b", daily("b", 5).algorithm(Algorithm.TOKEN_BUCKET).build(), run.now());
      Binding other =
          run.store.variant(
              bucket,
              Policy.builder(Quota.perHour(2)).name("b").algorithm(Algorithm.TOKEN_BUCKET).build());
      run.read();
      assertThat(run.request(twelve, 1, 6)).isEqualTo(Reason.OVER_LIMIT);
      assertThat(run.request(twelve, 1, 5)).isEqualTo(Reason.WITHIN_LIMIT);
      assertThat(run.request(more, 1, 8)).isEqualTo(Reason.WITHIN_LIMIT);
      assertThat(run.request(more, 1, 1)).isEqualTo(Reason.OVER_LIMIT);
      assertThat(run.request(hourly, 1, 5)).isEqualTo(Reason.WITHIN_LIMIT);
      assertThat(run.request(hourly, 1, 1)).isEqualTo(Reason.OVER_LIMIT);
      assertThat(run.request(other, 1, 2)).isEqualTo(Reason.WITHIN_LIMIT);
      assertThat(run.request(other, 1, 1)).isEqualTo(Reason.OVER_LIMIT);
      run.store.verify();
      run.stop();
    }
    try (Run run = new Run()) {
      run.read();
      assertThat(run.request(1, 1)).isEqualTo(Reason.OVER_LIMIT);
    }
  }

  /** Threads request before, during and after the handover: each key gets what was left of it. */
  @Test
  void handover_admitsExactlyWhatIsLeft() throws Exception {
    runOnce(false);
    int threads = 3;
    int fresh = 400;
    try (Run run = new Run()) {
      Binding second = run.store.bind("q", daily("q", 10).build(), run.now());
      AtomicInteger admitted = new AtomicInteger();
      CountDownLatch begun = new CountDownLatch(threads);
      List<Thread> requesting = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        boolean joint = i == 0;
        Thread thread = new Thread(() -> exhaust(run, second, joint, fresh, begun, admitted));
        thread.start();
        requesting.add(thread);
      }
      begun.await();
      run.read();
      for (Thread each : requesting) {
        each.join();
      }
      assertThat(admitted.get()).isEqualTo(3 + 10 * fresh);
    }
  }

  /** Requests one permit of each key until all are refused for want of permits. */
  private static void exhaust(
      Run run,
      Binding second,
      boolean joint,
      int fresh,
      CountDownLatch begun,
      AtomicInteger admitted) {
    Charges charges = new Charges();
    for (int key = 1; key <= 1 + fresh; ) {
      long fingerprint = key == 1 ? 1 : 10_000 + key;
      charges.clear().add(run.binding, fingerprint, 1);
      if (joint) {
        charges.add(second, fingerprint, 1);
      }
      run.store.decide(charges, run.now());
      if (charges.allowed()) {
        admitted.incrementAndGet();
      } else if (charges.reason(0) == Reason.OVER_LIMIT) {
        key++;
      }
      begun.countDown();
    }
  }

  @Test
  void stopBeforeOrDuringTheReading_leavesTheFolderAsItWas() throws Exception {
    for (boolean inOrder : new boolean[] {false, true}) {
      runOnce(inOrder);
      Map<String, String> before = files();
      Run run = new Run();
      assertThat(run.request(1, 1)).isEqualTo(Reason.UNCERTAIN);
      run.stop();
      assertThat(files()).isEqualTo(before);
      assertThatThrownBy(() -> run.state.awaitBegun(LONG))
          .isInstanceOf(CancellationException.class);
      run.readings.forEach(Runnable::run); // Too late: the folder may be another's.
      assertThat(files()).isEqualTo(before);
      try (Run next = new Run()) {
        next.read();
        assertThat(next.request(1, 4)).isEqualTo(Reason.OVER_LIMIT);
        assertThat(next.request(1, 3)).isEqualTo(Reason.WITHIN_LIMIT);
        next.store.reset(next.binding, 1, next.now());
        for (long key = 2; key < 500; key++) {
          next.store.reset(next.binding, key, next.now());
        }
        next.stop();
      }
    }
  }

  @Test
  void cancelledReading_endsAtItsNextBlock() throws IOException {
    StateReading reading = new StateReading();
    try (InputStream in = reading.counted(new ByteArrayInputStream(new byte[100]))) {
      assertThat(in.readNBytes(10)).hasSize(10);
      reading.cancel();
      assertThatThrownBy(in::read).isInstanceOf(StateReading.Cancellation.class);
    }
  }

  @Test
  void progress_isInMegabytes() throws IOException {
    StateReading reading = new StateReading();
    reading.expect(250L << 20);
    reading.advance(99L << 20);
    assertThat(reading.line(7_300_000_000L))
        .isEqualTo("state: reading the counts: 99 of 250 MB after 7 s");
  }

  @Test
  void damagedImage_refusesAfterTheReading() throws Exception {
    runOnce(true);
    Path image = folder.resolve("rules.image");
    byte[] bytes = Files.readAllBytes(image);
    bytes[bytes.length / 2] ^= 1;
    Files.write(image, bytes);
    try (Run run = new Run()) {
      run.read();
      assertThat(run.request(9_000, 1)).isEqualTo(Reason.OVER_LIMIT);
      assertThat(String.join("\n", log)).contains("rules.image.damaged, and keys are refused");
    }
  }

  @Test
  void folderThatCannotBeWritten_failsTheWaiting() throws Exception {
    runOnce(true);
    Files.createDirectories(folder.resolve("rules.image.next/full"));
    Run run = new Run();
    run.readings.forEach(Runnable::run);
    assertThatThrownBy(() -> run.state.awaitBegun(LONG))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(folder.toString());
    assertThat(run.request(1, 1)).isEqualTo(Reason.UNCERTAIN);
    run.stop();
  }
}
