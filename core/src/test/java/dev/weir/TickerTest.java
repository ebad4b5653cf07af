package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.concurrent.CompletableFuture;
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

  private Ticker.ScheduledTask holding(byte[] bytes) {
    return ticker.schedule(HOUR, () -> bytes[0]++);
  }
}
