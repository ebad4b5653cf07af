package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.StateDurability;
import dev.weir.Store;
import dev.weir.testkit.SeatContract;
import dev.weir.testkit.StoreContract;
import dev.weir.testkit.StoreKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of stores that a program opens with a folder, by the ends that their counts outlive. */
class JournaledStoreTest {
  /** Each store makes files of its own, so few random trials are worth their time. */
  private static final double EFFORT = 0.05;

  @TempDir private Path folder;

  private static Store opened(Path folder, StateDurability durability) {
    try {
      Path own = Files.createTempDirectory(folder, "counts");
      return MemoryStore.builder().journal(own).durability(durability).buildAnswering();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Nested
  class OfTheProcess extends StoreContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> opened(folder, StateDurability.PROCESS))
          .withCheck(MemoryStore.class, MemoryStore::verify)
          .withEffort(EFFORT);
    }
  }

  @Nested
  class OfTheMachine extends StoreContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> opened(folder, StateDurability.MACHINE)).withEffort(EFFORT);
    }
  }

  @Nested
  class SeatsOfTheProcess extends SeatContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> opened(folder, StateDurability.PROCESS))
          .withCheck(MemoryStore.class, MemoryStore::verify)
          .withEffort(EFFORT);
    }
  }

  @Nested
  class SeatsOfTheMachine extends SeatContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> opened(folder, StateDurability.MACHINE)).withEffort(EFFORT);
    }
  }

  @ParameterizedTest
  @EnumSource(StateDurability.class)
  void closedStore_goesOnWithWhateverDurability(StateDurability durability) throws Exception {
    for (boolean admitted : new boolean[] {true, false}) {
      try (Store store =
          MemoryStore.builder().journal(folder).durability(durability).buildAnswering()) {
        RateLimiter limiter =
            RateLimiter.builder(Policy.builder(Quota.perDay(1)).name("daily").build())
                .store(store)
                .build();
        assertThat(limiter.tryAcquire("user:42").allowed()).isEqualTo(admitted);
        assertThat(limiter.tryAcquireAsync("user:42").get(1, TimeUnit.MINUTES).allowed()).isFalse();
        assertThat(Files.exists(folder.resolve("limits.kept")))
            .isEqualTo(durability != StateDurability.NONE);
      }
      assertThat(folder.resolve("running")).doesNotExist();
    }
  }

  @Test
  void storeThatAnswersBeforeItsFlush_isRefusedForTheMachine() {
    MemoryStore.Builder builder =
        MemoryStore.builder().journal(folder).durability(StateDurability.MACHINE);
    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "durability: MACHINE (expected: PROCESS or NONE; or buildAnswering, whose store answers"
                + " when its journal is on the disk)");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void durabilityWithoutAJournal_isRefused() {
    assertThatThrownBy(() -> MemoryStore.builder().durability(StateDurability.PROCESS).build())
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("durability: PROCESS without a journal (expected: a folder for one)");
  }
}
