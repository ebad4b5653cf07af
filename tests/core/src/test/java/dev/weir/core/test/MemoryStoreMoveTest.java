package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Fingerprint;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Keys that move between stores, each with a clock of its own, at any instant: no window of real
 * time holds more than the bound of the algorithm.
 */
@Tag("model")
@Tag("sample")
class MemoryStoreMoveTest {
  private static final long WINDOW = 1_000_000;

  /** The keys of one slot of 4,096. */
  private static final long FIRST = 0x123L << 52;

  private static final long LAST = FIRST | -1L >>> 12;

  /** The number of trials within which a move that does not shift the instants is found. */
  private static final int ENOUGH = 250;

  private final SplittableRandom random = Trials.numbers("moved keys");

  private static MemoryStore fresh() {
    return MemoryStore.unbounded(Fingerprint.seeded(1, 2));
  }

  private static Policy policy(Algorithm algorithm, long permits, long window) {
    Policy.Builder builder =
        Policy.builder(new Quota(permits, window)).name("p").algorithm(algorithm);
    return algorithm.granular()
        ? builder.granularity(Duration.ofNanos(window / 8)).build()
        : builder.build();
  }

  private static void move(MemoryStore from, long then, MemoryStore to, long now)
      throws IOException {
    byte[] lifted = from.lift(FIRST, LAST, then);
    from.drop(FIRST, LAST);
    to.lay(lifted, now);
    from.verify();
    to.verify();
  }

  /** A clock of a store: never fast, but it stands still now and then. */
  private final class Clock {
    private long aheadNanos = random.nextLong(1L << 40);

    long at(long real) {
      return real + aheadNanos;
    }

    void standStill(long nanos) {
      aheadNanos -= nanos;
    }
  }

  /**
   * Returns the most permits that any window of real time holds of one key.
   *
   * @param queued true if some requests wait; then no clock stands still, since a client waits by
   *     its own clock
   */
  private long fullest(Policy policy, boolean shifted, boolean queued) throws IOException {
    long window = policy.quota().windowNanos();
    List<MemoryStore> stores = List.of(fresh(), fresh(), fresh());
    List<Clock> clocks = List.of(new Clock(), new Clock(), new Clock());
    List<Operation> admitted = new ArrayList<>();
    int at = 0;
    long real = 0;
    long pace = random.nextLong(window / 30, window / 2);
    for (int i = 0; i < 400; i++) {
      real += random.nextLong(random.nextInt(6) == 0 ? 2 * window : pace);
      Clock clock = clocks.get(at);
      MemoryStore store = stores.get(at);
      if (!queued && random.nextInt(12) == 0) {
        long still = random.nextLong(window);
        clocks.get(random.nextInt(3)).standStill(still);
        real += still;
      } else if (random.nextInt(12) == 0) {
        int next = (at + random.nextInt(1, 3)) % 3;
        long then = clock.at(real);
        real += random.nextInt(3) == 0 ? random.nextLong(2 * window) : random.nextLong(window / 90);
        long now = clocks.get(next).at(real);
        move(store, shifted ? then : now, stores.get(next), now);
        at = next;
      } else if (random.nextInt(12) == 0) {
        store.expire(clock.at(real));
      } else if (random.nextInt(3) == 0) {
        real += window - Math.floorMod(clock.at(real), window) - random.nextInt(2); // An edge.
      }
      request(stores.get(at), policy, clocks.get(at).at(real), real, queued, admitted);
    }
    return WindowChecker.maxInAnyWindow(admitted, window);
  }

  private void request(
      MemoryStore store,
      Policy policy,
      long now,
      long real,
      boolean queues,
      List<Operation> admitted) {
    Binding binding = store.bind("p", policy, now);
    int key = random.nextInt(3);
    boolean queued = queues && random.nextInt(4) == 0;
    for (int times = random.nextInt(1, 5); times > 0; times--) {
      long permits = random.nextLong(1, Math.max(2, policy.quota().permits() + 1));
      Charges one = new Charges().add(binding, FIRST + key, permits);
      if (queued) {
        one.maxWait(random.nextLong(2 * policy.quota().windowNanos()));
      }
      store.decide(one, now);
      if (one.allowed()) {
        long wait = queued ? one.retryAfterNanos(0) : 0;
        admitted.add(Operation.admitted("" + key, permits, real + wait));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void movedKey_admitsNoMoreThanItsBoundInRealTime(Algorithm algorithm) throws IOException {
    int runs = Trials.runs(100, 500);
    Trials.report("moved keys, " + algorithm, runs);
    for (int trial = 0; trial < runs; trial++) {
      Policy policy = policy(algorithm, random.nextInt(1, 20), WINDOW + 8L * random.nextInt(9_000));
      assertThat(fullest(policy, true, trial % 2 == 0))
          .as("trial %s, %s", trial, policy)
          .isLessThanOrEqualTo(Oracle.bound(policy));
    }
  }

  /** Checks that the test above fails if the instants are not moved. */
  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void moveWithoutShift_isCaught(Algorithm algorithm) throws IOException {
    boolean caught = false;
    int runs = 0;
    for (; runs < ENOUGH && !caught; runs++) {
      Policy policy = policy(algorithm, random.nextInt(1, 20), WINDOW);
      caught = fullest(policy, false, runs % 2 == 0) > Oracle.bound(policy);
    }
    Trials.report("moved keys without shift, " + algorithm, runs);
    assertThat(caught).as("%s", algorithm).isTrue();
  }

  /**
   * Moves a key to clocks that cut its windows short by more than a whole one, together. A request
   * waits by the clock that gave its wait, so the wait ends in a later window than the next.
   */
  @Test
  void permitsThatAreWaitedFor_countInTheWindowInWhichTheWaitEnds() throws IOException {
    Policy policy = policy(Algorithm.FIXED_WINDOW, 5, WINDOW);
    MemoryStore a = fresh();
    MemoryStore b = fresh();
    MemoryStore c = fresh();
    long bAhead = WINDOW * 22 / 100;
    long cAhead = WINDOW / 100;
    List<Operation> admitted = new ArrayList<>();
    long real = WINDOW / 2;
    queue(a, policy, real, real, 5, admitted);
    queue(a, policy, real, real, 5, admitted);
    queue(a, policy, real, real, 5, admitted);
    assertThat(admitted).last().extracting(Operation::startNanos).isEqualTo(2 * WINDOW);
    move(a, real, b, real + bAhead);
    real = WINDOW * 92 / 100;
    move(b, real + bAhead, c, real + cAhead);
    queue(c, policy, WINDOW + cAhead, WINDOW, 3, admitted);
    real = 3 * WINDOW - WINDOW / 200;
    for (int i = 0; i < 5; i++) {
      queue(c, policy, real + cAhead, real, 1, admitted);
    }
    assertThat(WindowChecker.maxInAnyWindow(admitted, WINDOW))
        .isLessThanOrEqualTo(Oracle.bound(policy));
  }

  private static void queue(
      MemoryStore store,
      Policy policy,
      long now,
      long real,
      long permits,
      List<Operation> admitted) {
    Charges one = new Charges().add(store.bind("p", policy, now), FIRST, permits);
    store.decide(one.maxWait(2 * WINDOW), now);
    if (one.allowed()) {
      admitted.add(Operation.admitted("0", permits, real + one.retryAfterNanos(0)));
    }
  }
}
