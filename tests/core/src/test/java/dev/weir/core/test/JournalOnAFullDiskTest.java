package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.StateFolder;
import dev.weir.Ticker;
import dev.weir.testkit.SmallDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of a journal for which the disk has no room: a real disk, of a few megabytes. */
class JournalOnAFullDiskTest {
  private static final int MEGABYTES = 80;
  private static final Policy DAILY =
      Policy.builder(new Quota(1_000_000_000, 86_400_000_000_000L))
          .name("daily")
          .algorithm(Algorithm.TOKEN_BUCKET)
          .build();

  @TempDir Path folder;
  private final ConcurrentLinkedQueue<String> warnings = new ConcurrentLinkedQueue<>();

  private StateFolder open(Path at) throws IOException {
    return StateFolder.builder(at)
        .log(
            new StateFolder.Log() {
              @Override
              public void info(String line) {}

              @Override
              public void warning(String line) {
                warnings.add(line);
              }
            })
        .open();
  }

  @Test
  void diskThatBecomesFull_endsTheJournalAndNoDecision() throws Exception {
    try (SmallDisk disk = SmallDisk.of(MEGABYTES, folder)) {
      if (disk == null) {
        return; // The kit has said so.
      }
      Path at = disk.path().resolve("state");
      Ticker ticker = Ticker.system();
      try (StateFolder state = open(at)) {
        MemoryStore store = state.store("s", "", 1_000, 1 << 20);
        state.begin();
        assertThat(state.isComplete()).isTrue();
        disk.fill(0);
        Binding daily = store.bind("daily", DAILY, ticker.nanos());
        for (int i = 0; i < 5_000_000 && state.isComplete(); i++) {
          long packed = store.decide(daily, i % 900 * 0x9e3779b97f4a7c15L, 1, ticker.nanos());
          assertThat(PackedDecision.allowed(packed)).isTrue();
        }
        assertThat(state.isComplete()).isFalse();
        assertThat(warnings)
            .singleElement()
            .asString()
            .contains("No space left on device")
            .endsWith("what is admitted from now on is not kept if the process dies");
        assertThat(PackedDecision.allowed(store.decide(daily, 7, 1, ticker.nanos()))).isTrue();
        assertThat(at.resolve("s.kept")).doesNotExist();
      }
      try (StateFolder state = open(copy(at))) { // The other one is in use until this process ends.
        MemoryStore store = state.store("s", "", 1_000, 1 << 20);
        Binding daily = store.bind("daily", DAILY, ticker.nanos());
        long all = store.decide(daily, 7, 1_000_000_000, ticker.nanos());
        assertThat(PackedDecision.allowed(all)).as("%s", warnings).isFalse();
      }
    }
  }

  private Path copy(Path from) throws IOException {
    Path copy = Files.createDirectory(folder.resolve("copy"));
    try (Stream<Path> all = Files.list(from)) {
      for (Path each : all.toList()) {
        Files.copy(each, copy.resolve(each.getFileName().toString()));
      }
    }
    return copy;
  }

  @Test
  void diskWithoutRoomForAJournal_refusesTheStart() throws Exception {
    try (SmallDisk disk = SmallDisk.of(4, folder)) {
      if (disk == null) {
        return;
      }
      try (StateFolder state = open(disk.path().resolve("state"))) {
        var unused = state.store("s", "", 1_000, 1 << 20);
        assertThatThrownBy(state::begin)
            .isInstanceOf(IOException.class)
            .hasMessageEndingWith(
                "/state: no space left on the disk (expected: a folder that can be written)");
      }
      assertThat(Files.exists(disk.path().resolve("state/running"))).isFalse();
    }
  }
}
