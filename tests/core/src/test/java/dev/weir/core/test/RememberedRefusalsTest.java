package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.internal.RememberedRefusals;
import dev.weir.internal.RememberedRefusals.Refusal;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class RememberedRefusalsTest {
  private static final String A = "a";

  private final FakeTicker ticker = new FakeTicker(1_000);
  private final RememberedRefusals<String> refusals = new RememberedRefusals<>(ticker, 3, 200);

  private static String place(int number) {
    return Integer.toString(number);
  }

  @Test
  void refusal_isFoundUntilItIsOver() {
    assertThat(refusals.find(A)).isNull();
    refusals.add(A, 429, 10);
    ticker.advance(9);
    assertThat(refusals.find(A)).isEqualTo(new Refusal(429, 1_000, 1_010, 1_010));
    ticker.advance(1);
    assertThat(refusals.find(A)).isNull();
    assertThat(refusals.size()).isZero();
  }

  @Test
  void shorterRefusal_doesNotShortenALongerOne() {
    refusals.add(A, 503, 100);
    ticker.advance(50);
    refusals.add(A, 429, 10);
    assertThat(refusals.find(A)).isEqualTo(new Refusal(503, 1_050, 1_100, 1_100));
    refusals.add(A, 429, 100);
    assertThat(refusals.find(A)).isEqualTo(new Refusal(429, 1_050, 1_150, 1_150));
  }

  /** The bound is this process's: its callers need the service's own time. */
  @Test
  void longRefusal_isKeptForLessThanTheServiceHasStated() {
    refusals.add(A, 429, 3_600);
    assertThat(refusals.find(A)).isEqualTo(new Refusal(429, 1_000, 4_600, 1_200));
    ticker.advance(50);
    refusals.add(A, 429, 3_000);
    assertThat(refusals.find(A)).isEqualTo(new Refusal(429, 1_050, 4_600, 1_200));
    ticker.advance(150);
    assertThat(refusals.find(A)).isNull();
    refusals.add(A, 429, Long.MAX_VALUE);
    assertThat(refusals.find(A)).isEqualTo(new Refusal(429, 1_200, Long.MAX_VALUE, 1_400));
  }

  @Test
  void refusalWithoutATime_isNotKept() {
    refusals.add(A, 429, 0);
    refusals.add(A, 429, -1);
    new RememberedRefusals<String>(ticker, 3, 0).add(A, 429, 10);
    assertThat(refusals.size()).isZero();
  }

  @Test
  void answerToARequestSentSince_forgets() {
    refusals.add(A, 429, 100);
    refusals.forget(A, 999);
    assertThat(refusals.find(A)).isNotNull();
    refusals.forget(A, 1_000);
    assertThat(refusals.find(A)).isNull();
  }

  @Test
  void oneTooMany_forgetsTheOldest() {
    for (int i = 0; i < 3; i++) {
      refusals.add(place(i), 429, 100);
    }
    refusals.add(place(0), 429, 100);
    refusals.add(place(3), 429, 100);
    assertThat(refusals.size()).isEqualTo(3);
    assertThat(refusals.find(place(0))).isNotNull();
    assertThat(refusals.find(place(1))).isNull();
    assertThat(refusals.find(place(2))).isNotNull();
    assertThat(refusals.find(place(3))).isNotNull();
  }

  @Test
  void manyThreads_keepTheBoundAndTheSize() throws Exception {
    RememberedRefusals<String> shared = new RememberedRefusals<>(ticker, 64, 200);
    int threads = 4;
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<Integer>> tasks = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int first = t;
        tasks.add(
            () -> {
              int most = 0;
              for (int i = 0; i < 20_000; i++) {
                String place = place((first * 7 + i) % 100);
                shared.add(place, 429, 1 + i % 50);
                most = Math.max(most, shared.size());
                if (i % 3 == 0) {
                  shared.forget(place, Long.MAX_VALUE);
                }
                shared.find(place((first + i * 3) % 100));
                ticker.advance(1);
              }
              return most;
            });
      }
      for (Future<Integer> each : executor.invokeAll(tasks)) {
        assertThat(each.get()).isBetween(1, 64);
      }
    } finally {
      executor.shutdownNow();
    }
    ticker.advance(1_000);
    for (int i = 0; i < 100; i++) {
      assertThat(shared.find(place(i))).isNull();
    }
    assertThat(shared.size()).isZero();
  }
}
