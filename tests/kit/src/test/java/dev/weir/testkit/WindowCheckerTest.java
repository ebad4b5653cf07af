package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Reason;
import dev.weir.testkit.WindowChecker.FullestWindow;
import dev.weir.testkit.WindowChecker.Operation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The checker must find limiters that are known to be wrong; these are such limiters. */
class WindowCheckerTest {
  private static final long WINDOW = 10;
  private static final int LIMIT = 3;

  private static Operation admitted(long at) {
    return Operation.admitted("k", 1, at);
  }

  private static Operation between(long start, long end, long permits) {
    return new Operation("k", permits, start, end, true, Reason.WITHIN_LIMIT);
  }

  private static long excess(List<Operation> history) {
    return WindowChecker.certainExcess(history, WINDOW, LIMIT);
  }

  @Test
  void exactlyTheLimit_isNoExcess() {
    assertThat(excess(List.of(admitted(0), admitted(1), admitted(9)))).isZero();
    assertThat(excess(List.of(admitted(0), admitted(1), admitted(9), admitted(10)))).isZero();
  }

  @Test
  void oneAdmissionTooMany_isFoundWhereverItStands() {
    List<Operation> full = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      full.add(admitted(100L * i));
      full.add(admitted(100L * i + 4));
      full.add(admitted(100L * i + 9));
    }
    assertThat(excess(full)).isZero();
    for (int i = 0; i < 30; i++) {
      for (int offset = 0; offset < WINDOW; offset++) {
        List<Operation> history = new ArrayList<>(full);
        history.add((i * 7) % history.size(), admitted(100L * i + offset));
        assertThat(excess(history)).isEqualTo(1);
      }
    }
  }

  @Test
  void windowIsHalfOpen_oneNanosecondDecides() {
    assertThat(excess(List.of(admitted(0), admitted(0), admitted(0), admitted(9)))).isEqualTo(1);
    assertThat(excess(List.of(admitted(0), admitted(0), admitted(0), admitted(10)))).isZero();
  }

  @Test
  void keysDenialsAndZeroPermits_countApart() {
    List<Operation> history = new ArrayList<>(List.of(admitted(0), admitted(0), admitted(0)));
    history.add(Operation.admitted("other", 3, 0));
    history.add(new Operation("k", 1, 0, 0, false, Reason.OVER_LIMIT));
    history.add(Operation.admitted("k", 0, 0));
    assertThat(excess(history)).isZero();
    history.add(Operation.admitted("other", 2, 5));
    assertThat(WindowChecker.fullest(history, WINDOW))
        .isEqualTo(new FullestWindow("other", 5, 0, 9));
  }

  @Test
  void doubt_isNotExcess_certaintyIs() {
    // The last one may have been decided at 10 already, outside the window of the first three.
    assertThat(excess(List.of(between(0, 1, 3), between(5, 10, 1)))).isZero();
    assertThat(excess(List.of(between(0, 1, 3), between(5, 9, 1)))).isEqualTo(1);
    assertThat(excess(List.of(between(0, 50, 3), between(20, 21, 1), between(22, 23, 2)))).isZero();
  }

  @Test
  void sweep_agreesWithAllPairsOnRandomHistories() {
    int runs = 2_000;
    SplittableRandom random = Trials.random("sweep_agreesWithAllPairs", runs);
    for (int trial = 0; trial < runs; trial++) {
      List<Operation> history = new ArrayList<>();
      for (int i = random.nextInt(12); i > 0; i--) {
        long start = random.nextLong(-20, 40);
        history.add(between(start, start + random.nextLong(12), random.nextLong(4)));
      }
      long worst = 0;
      for (Operation first : history) {
        long sum = 0;
        for (Operation each : history) {
          boolean inside =
              each.startNanos() >= first.startNanos()
                  && each.endNanos() - first.startNanos() < WINDOW;
          sum += inside ? each.permits() : 0;
        }
        worst = Math.max(worst, sum);
      }
      assertThat(WindowChecker.maxInAnyWindow(history, WINDOW)).isEqualTo(worst);
    }
  }

  @Test
  void fixedWindowAtItsEdge_presentedAsStrict_isCaught() {
    Map<Long, Integer> counts = new HashMap<>();
    List<Operation> history = new ArrayList<>();
    for (long at = 7; at < 40; at++) {
      if (counts.merge(at / WINDOW, 1, Integer::sum) <= LIMIT) {
        history.add(admitted(at));
      }
    }
    assertThat(excess(history)).isGreaterThan(0);
  }

  @Test
  void logThatTakesTheCallersTime_isCaught() {
    List<Long> log = new ArrayList<>();
    List<Operation> history = new ArrayList<>();
    long[] told = {0, 0, 0, 12, 1, 12, 12, 2};
    for (int i = 0; i < told.length; i++) {
      long now = told[i];
      log.removeIf(
          at -> at <= now - WINDOW); // Forgets what a caller with an older time still sees.
      if (log.size() < LIMIT) {
        log.add(now);
        history.add(admitted(now));
      }
    }
    assertThat(excess(history)).isGreaterThan(0);
  }

  @Test
  void checkThenAct_isCaught() throws Exception {
    int threads = 8;
    int[] count = {0};
    CountDownLatch allChecked = new CountDownLatch(threads);
    List<Operation> history = new ArrayList<>();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Future<Boolean>> answers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      answers.add(
          pool.submit(
              () -> {
                boolean fits = count[0] < LIMIT;
                allChecked.countDown();
                allChecked.await(); // All threads have checked before the first one acts.
                synchronized (count) {
                  count[0] += fits ? 1 : 0;
                }
                return fits;
              }));
    }
    for (Future<Boolean> answer : answers) {
      history.add(new Operation("k", 1, 0, 5, answer.get(), Reason.WITHIN_LIMIT));
    }
    pool.shutdown();
    assertThat(excess(history)).isEqualTo(threads - LIMIT);
  }

  @Test
  void senselessHistory_isRefused() {
    assertThatThrownBy(() -> excess(List.of(between(5, 4, 1))))
        .hasMessageContaining("expected: start <= end");
    assertThatThrownBy(() -> WindowChecker.maxInAnyWindow(List.of(), 0))
        .hasMessage("windowNanos: 0 (expected: at least 1)");
  }
}
