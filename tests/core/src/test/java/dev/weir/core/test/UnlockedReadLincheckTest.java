package dev.weir.core.test;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.testkit.Trials;
import java.time.Duration;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An answer that is read without the lock while another thread writes: it is that of the state
 * before the write or of the one after it, never of parts of both.
 */
@Tag("model")
@Tag("sample")
class UnlockedReadLincheckTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Duration HOUR = Duration.ofHours(1);
  private static final long MINUTE = 60 * SECOND;

  private static Binding limit(MemoryStore store, Algorithm algorithm, Duration window) {
    Policy policy = Policy.builder(Quota.of(2, window)).algorithm(algorithm).build();
    return store.bind(algorithm.text(), policy, 0);
  }

  /** One key, of which an answer is read while two windows later a permit is charged. */
  public abstract static class Charged {
    static final long KEY = 1;

    final MemoryStore store = new MemoryStore();
    final Binding binding;

    Charged(Algorithm algorithm, int used) {
      binding = limit(store, algorithm, Duration.ofSeconds(1));
      store.decide(binding, KEY, used, 0);
    }

    /** Returns a request of two permits. */
    Charges request() {
      return new Charges().add(binding, KEY, 2);
    }

    @Operation(runOnce = true)
    public Decision read() {
      Charges charges = request();
      store.decide(charges, 0, done -> {});
      return charges.decision(0);
    }

    @Operation(runOnce = true)
    public long charge() {
      return store.decide(binding, KEY, 1, 2 * SECOND);
    }
  }

  /** A refusal by a state of two words. */
  public static class RefusedByACounter extends Charged {
    public RefusedByACounter() {
      super(Algorithm.SLIDING_WINDOW_COUNTER, 2);
    }
  }

  /** A peek, which may fit. */
  public static class Peeked extends Charged {
    public Peeked() {
      super(Algorithm.FIXED_WINDOW, 1);
    }

    @Override
    Charges request() {
      return new Charges().add(binding, KEY, 1).peek();
    }
  }

  /** A refusal of two charges by one of them. */
  public static class RefusedTogether extends Charged {
    private final Binding other = limit(store, Algorithm.TOKEN_BUCKET, HOUR);

    public RefusedTogether() {
      super(Algorithm.FIXED_WINDOW, 2);
    }

    @Override
    Charges request() {
      return super.request().add(other, KEY, 1);
    }
  }

  /**
   * Three buckets with one home, of which the first is forgotten: the second moves, and the third,
   * which has no permits left, to where the second was.
   */
  public static class MovedBucket {
    private static final long NOW = 59 * MINUTE;

    private final MemoryStore store = new MemoryStore();
    private final Binding binding = limit(store, Algorithm.TOKEN_BUCKET, HOUR);

    public MovedBucket() {
      store.decide(binding, 1, 1, 0);
      store.decide(binding, 2, 1, NOW);
      store.decide(binding, 3, 2, NOW);
    }

    @Operation(runOnce = true)
    public long request() {
      return store.decide(binding, 2, 1, NOW);
    }

    @Operation(runOnce = true)
    public void forget() {
      store.reset(binding, 1, NOW);
    }
  }

  @ParameterizedTest
  @ValueSource(
      classes = {RefusedByACounter.class, Peeked.class, RefusedTogether.class, MovedBucket.class})
  void answer_isOfOneState(Class<?> threads) {
    new ModelCheckingOptions()
        .threads(2)
        .actorsPerThread(1)
        .actorsBefore(0)
        .actorsAfter(0)
        .iterations(Trials.unseeded(threads.getSimpleName(), 1))
        .invocationsPerIteration(100)
        .check(threads);
  }
}
