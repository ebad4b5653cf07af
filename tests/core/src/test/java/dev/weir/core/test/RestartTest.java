package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A limit over restarts: orderly ones, after which at least a known time has passed, and others,
 * after which the past is unknown. The clock of the new process can show any time.
 */
class RestartTest {
  private static final long WINDOW = 1_000_000_000L;
  private static final long MOST_OFFSET = 1_000 * WINDOW;

  private final SplittableRandom random = Trials.numbers("restarts");

  /**
   * The kinds of restart that must keep the limit; those known to be bad show that the check finds
   * a fault.
   */
  private enum Restart {
    RIGHT,
    FORGETS_A_CRASH,
    TRUSTS_THE_CLOCK
  }

  private long mostInAnyWindow(Algorithm algorithm, long limit, Restart kind) throws IOException {
    Policy policy = Policy.builder(new Quota(limit, WINDOW)).name("p").algorithm(algorithm).build();
    MemoryStore store = new MemoryStore();
    long real = 0;
    long offset = random.nextLong(MOST_OFFSET);
    Binding binding = store.bind("p", policy, offset);
    List<WindowChecker.Operation> history = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      real += random.nextLong(WINDOW / (2 * limit));
      if (random.nextInt(100) == 0) {
        long then = real + offset;
        long down = random.nextLong(WINDOW);
        real += down;
        offset = random.nextLong(MOST_OFFSET);
        long now = real + offset;
        if (random.nextBoolean()) {
          long known = then + (random.nextBoolean() ? down : 0);
          store = restored(store, kind == Restart.TRUSTS_THE_CLOCK ? now : known, now);
        } else {
          store = new MemoryStore();
          if (kind != Restart.FORGETS_A_CRASH) {
            store.unknownBefore(now);
          }
        }
        binding = store.bind("p", policy, now);
      }
      long permits = random.nextInt(1, 3);
      long key = random.nextInt(1, 3);
      if (PackedDecision.allowed(store.decide(binding, key, permits, real + offset))) {
        history.add(WindowChecker.Operation.admitted("k" + key, permits, real));
      }
    }
    store.verify();
    assertThat(history).isNotEmpty();
    return WindowChecker.maxInAnyWindow(history, WINDOW);
  }

  private static MemoryStore restored(MemoryStore store, long known, long now) throws IOException {
    ByteArrayOutputStream image = new ByteArrayOutputStream();
    store.save(image);
    return MemoryStore.restored(
        new ByteArrayInputStream(image.toByteArray()),
        MemoryStore.DEFAULT_MAX_KEYS,
        MemoryStore.defaultMaxBytes(),
        known,
        now);
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void noWindow_holdsMoreThanTheBound_overRestarts(Algorithm algorithm) throws IOException {
    int runs = 100;
    Trials.report("restarts, " + algorithm, runs);
    for (int trial = 0; trial < runs; trial++) {
      long limit = random.nextInt(1, 40);
      long most = mostInAnyWindow(algorithm, limit, Restart.RIGHT);
      // A bucket admits its burst and the permits that come back meanwhile; a window that is
      // aligned to the clock ends early if the clock does, and then three windows share the time.
      long bound = algorithm.strict() ? limit : algorithm.bucket() ? 2 * limit : 3 * limit;
      assertThat(most)
          .as("-Dweir.seed=%s, %s, limit %s", Trials.SEED, algorithm, limit)
          .isLessThanOrEqualTo(bound);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Restart.class,
      names = {"FORGETS_A_CRASH", "TRUSTS_THE_CLOCK"})
  void knownBadRestart_isCaught(Restart kind) throws IOException {
    long most = 0;
    int runs = 20;
    Trials.report("restarts, " + kind, runs);
    for (int trial = 0; trial < runs; trial++) {
      most = Math.max(most, mostInAnyWindow(Algorithm.SLIDING_WINDOW, 20, kind));
    }
    assertThat(most).as("-Dweir.seed=%s", Trials.SEED).isGreaterThan(20);
  }
}
