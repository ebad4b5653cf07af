package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tasks on real time, as on a ticker without a timer of its own. */
class TickerTest {
  private static final long HOUR = 3_600_000_000_000L;

  private final Ticker ticker = Ticker.system();

  @Test
  void scheduledTask_runsOnAnotherThread() {
    CompletableFuture<Thread> ran = new CompletableFuture<>();
    ticker.schedule(1, () -> ran.complete(Thread.currentThread()));
    assertThat(ran.orTimeout(120, TimeUnit.SECONDS).join()).isNotSameAs(Thread.currentThread());
  }

  @Test
  void applicationThatBlocksTheCommonPool_delaysNoTask() {
    CountDownLatch blocked = new CountDownLatch(1);
    List<CompletableFuture<Void>> blockers = new ArrayList<>();
    for (int i = 0; i < 2 * ForkJoinPool.commonPool().getParallelism() + 2; i++) {
      blockers.add(CompletableFuture.runAsync(() -> await(blocked), ForkJoinPool.commonPool()));
    }
    CompletableFuture<Boolean> ran = new CompletableFuture<>();
    ticker.schedule(1, () -> ran.complete(true));
    try {
      assertThat(ran.orTimeout(60, TimeUnit.SECONDS).join()).isTrue();
    } finally {
      blocked.countDown();
    }
    blockers.forEach(CompletableFuture::join);
  }

  @Test
  void cancelledTask_keepsNothingAlive() {
    byte[] large = new byte[1 << 20];
    WeakReference<byte[]> left = new WeakReference<>(large);
    Ticker.ScheduledTask scheduled = holding(large);
    scheduled.cancel();
    large = null;
    long end = ticker.nanos() + 120_000_000_000L;
    while (left.get() != null && ticker.nanos() < end) {
      System.gc();
    }
    assertThat(left.get()).isNull();
    scheduled.cancel(); // The caller may still have it.
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private Ticker.ScheduledTask holding(byte[] bytes) {
    return ticker.schedule(HOUR, () -> bytes[0]++);
  }
}
