package dev.weir.engine.internal.stores;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.engine.RoutedStore;
import dev.weir.rules.StoreChoice;
import dev.weir.testkit.LateStore;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Many threads call both stores at once, and the shared one answers on threads of its own. */
class SplitRequestThreadsTest {
  private static final int ASKERS = 4;
  private static final int ANSWERERS = 2;
  private static final int REQUESTS = 2_000;
  private static final long DEADLINE_SECONDS = 60;
  private static final long KEY = 7;

  /** The number of limits in this process; two more are in the shared store. */
  private static final int HERE = 2;

  private static final List<Algorithm> ALGORITHMS =
      List.of(
          Algorithm.SLIDING_WINDOW_LOG,
          Algorithm.SLIDING_WINDOW_COUNTER,
          Algorithm.SLIDING_WINDOW_BUCKETS,
          Algorithm.TOKEN_BUCKET);

  /**
   * The permits of each limit, fewer there than here: the shared store refuses what was charged
   * here.
   */
  private static final int[] PERMITS = {1_500, 900, 700, 600};

  private final LateStore late = new LateStore();
  private final RoutedStore store = RoutedStore.of(new MemoryStore(), late);
  private final List<Binding> limits = new ArrayList<>();
  private final AtomicIntegerArray admitted = new AtomicIntegerArray(PERMITS.length);
  private final CountDownLatch open = new CountDownLatch(ASKERS * REQUESTS);

  @Test
  void noLimitIsExceeded_andWhatWasRefusedIsRestored() throws Exception {
    for (int i = 0; i < PERMITS.length; i++) {
      Policy policy = Policy.builder(Quota.perDay(PERMITS[i])).algorithm(ALGORITHMS.get(i)).build();
      StoreChoice choice = i < HERE ? StoreChoice.LOCAL : StoreChoice.SHARED;
      limits.add(store.bind("rule-" + i, policy, choice, 0));
    }
    SplittableRandom seeds = Trials.random("SplitRequestThreadsTest");
    CyclicBarrier start = new CyclicBarrier(ASKERS + ANSWERERS);
    ExecutorService threads = Executors.newFixedThreadPool(ASKERS + ANSWERERS);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < ASKERS; i++) {
        SplittableRandom random = seeds.split();
        running.add(threads.submit(() -> request(start, random)));
      }
      for (int i = 0; i < ANSWERERS; i++) {
        running.add(threads.submit(() -> answer(start)));
      }
      for (Future<?> each : running) {
        each.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }

    int[] sums = IntStream.range(0, PERMITS.length).map(admitted::get).toArray();
    for (int i = 0; i < PERMITS.length; i++) {
      assertThat(sums[i]).isBetween(1, PERMITS[i]);
      Charges left = new Charges().add(limits.get(i), KEY, 1).peek();
      store.decide(left, 0, done -> {});
      assertThat(left.remaining(0)).as("rule %d", i).isEqualTo(PERMITS[i] - sums[i]);
    }
  }

  private Void request(CyclicBarrier start, SplittableRandom random) throws Exception {
    start.await();
    for (int i = 0; i < REQUESTS; i++) {
      int here = random.nextInt(HERE);
      int there = HERE + random.nextInt(PERMITS.length - HERE);
      boolean first = random.nextBoolean();
      Charges both =
          new Charges()
              .add(limits.get(first ? here : there), KEY, 1)
              .add(limits.get(first ? there : here), KEY, 1);
      store.decide(
          both,
          0,
          done -> {
            if (done.allowed()) {
              admitted.incrementAndGet(here);
              admitted.incrementAndGet(there);
            }
            open.countDown();
          });
    }
    return null;
  }

  private Void answer(CyclicBarrier start) throws Exception {
    start.await();
    while (open.getCount() > 0) {
      if (late.answer() == 0) {
        Thread.onSpinWait();
      }
    }
    return null;
  }
}
