package dev.weir.engine;

import dev.weir.Algorithm;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Store;
import dev.weir.rules.StoreChoice;
import dev.weir.testkit.AlgorithmContract;
import dev.weir.testkit.RecordChangeContract;
import dev.weir.testkit.RuleChangeContract;
import dev.weir.testkit.SeatContract;
import dev.weir.testkit.StoreContract;
import dev.weir.testkit.StoreKind;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Nested;

/** The contracts of every store, for two stores, whichever of them a limit is in. */
class RoutedStoreContractTest {
  private static final long MAX_KEYS = 1 << 20;

  private static RoutedStore both(long maxKeys) {
    return RoutedStore.of(new MemoryStore(maxKeys), new MemoryStore(maxKeys));
  }

  private static Store allLocal(long maxKeys) {
    return new ChoosingStore(both(maxKeys), name -> StoreChoice.LOCAL);
  }

  /**
   * Returns two stores that have the contracts' limits by turns; threads must not share a local
   * bucket, see RoutedStore.
   */
  private static Store mixed(long maxKeys) {
    return new ChoosingStore(both(maxKeys), RoutedStoreContractTest::choice);
  }

  private static StoreChoice choice(String name) {
    return switch (name) {
      case "wide", "five", "rule-1", "rule-3", "sliding-window-log", "fixed-window" ->
          StoreChoice.LOCAL;
      default -> StoreChoice.SHARED;
    };
  }

  /** Returns two stores with the limits exchanged, but with the buckets where they were. */
  private static Store mixedOtherwise(long maxKeys) {
    return new ChoosingStore(
        both(maxKeys),
        name ->
            choice(name) == StoreChoice.LOCAL || name.endsWith("-bucket")
                ? StoreChoice.SHARED
                : StoreChoice.LOCAL);
  }

  @Nested
  class AllShared extends StoreContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> both(MAX_KEYS));
    }
  }

  @Nested
  class AllLocal extends StoreContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> allLocal(MAX_KEYS));
    }
  }

  @Nested
  class Alone extends StoreContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> RoutedStore.local(new MemoryStore(MAX_KEYS)));
    }
  }

  @Nested
  class Mixed extends StoreContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> mixed(MAX_KEYS));
    }
  }

  @Nested
  class MixedOtherwise extends StoreContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> mixedOtherwise(MAX_KEYS));
    }
  }

  @Nested
  class SeatsShared extends SeatContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> both(MAX_KEYS));
    }
  }

  @Nested
  class SeatsLocal extends SeatContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> allLocal(MAX_KEYS));
    }
  }

  @Nested
  class SeatsMixed extends SeatContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(
          () ->
              new ChoosingStore(
                  both(MAX_KEYS),
                  name -> name.equals("rate") ? StoreChoice.SHARED : StoreChoice.LOCAL));
    }
  }

  @Nested
  class RuleChangesShared extends RuleChangeContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> both(MAX_KEYS));
    }
  }

  @Nested
  class RuleChangesLocal extends RuleChangeContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> allLocal(MAX_KEYS));
    }
  }

  @Nested
  class RecordChangesShared extends RecordChangeContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> both(MAX_KEYS));
    }
  }

  @Nested
  class RecordChangesLocal extends RecordChangeContract {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> allLocal(MAX_KEYS));
    }
  }

  private abstract static class ByDefault extends AlgorithmContract {
    ByDefault() {
      super(Algorithm.SLIDING_WINDOW);
    }

    @Override
    protected Policy randomPolicy(SplittableRandom random) {
      return policy(Quota.perSecond(random.nextLong(1, 40)));
    }
  }

  @Nested
  class AlgorithmShared extends ByDefault {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> both(MAX_KEYS));
    }
  }

  @Nested
  class AlgorithmLocal extends ByDefault {
    @Override
    protected StoreKind kind() {
      return StoreKind.of(() -> allLocal(MAX_KEYS));
    }
  }
}
