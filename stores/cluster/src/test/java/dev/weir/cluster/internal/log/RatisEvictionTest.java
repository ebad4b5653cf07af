package dev.weir.cluster.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.Trio;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The part of Ratis for which its close could wait without end, and the way to end it. */
class RatisEvictionTest {
  @TempDir Path folder;

  private static List<Thread> evicting() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().contains("cacheEviction"))
        .toList();
  }

  @Test
  void closingAGroup_endsItsThreadBeforeTheLogIsLocked() throws Exception {
    List<Thread> before = evicting();
    try (Trio trio = new Trio(folder)) {
      List<Thread> own = evicting().stream().filter(thread -> !before.contains(thread)).toList();
      assertThat(own).hasSize(3);
      RatisLedger ledger = (RatisLedger) trio.node(trio.leader()).ledger();

      ledger.stopEviction();

      assertThat(own.stream().filter(Thread::isAlive)).hasSize(2);
      assertThat(ledger.append(HashMachine.entry(1, 100)).toCompletableFuture().join()).isNotNull();
      ledger.stopEviction();
    }
    assertThat(evicting()).isSubsetOf(before);
  }
}
