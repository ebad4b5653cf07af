package dev.weir.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.weir.Ticker;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZI_Result;

/** A test in which the only permit of an adaptive limiter ends while a request joins the queue. */
@JCStressTest
@Outcome(id = "true, 1", expect = ACCEPTABLE, desc = "It has passed on.")
@Outcome(expect = FORBIDDEN, desc = "The request waits for nothing, or a permit is lost.")
@State
public class AdaptiveWait {
  /** A time that stands still, so that no request waits too long. */
  private static final class StandingTicker implements Ticker {
    @Override
    public long nanos() {
      return 0;
    }

    @Override
    public ScheduledTask schedule(long nanos, Runnable task) {
      return () -> {};
    }
  }

  private final AdaptiveLimiter limiter =
      AdaptiveLimiter.builder().initial(1).ceiling(1).ticker(new StandingTicker()).build();

  private final AdaptivePermit held = limiter.tryAcquire();
  private CompletableFuture<AdaptivePermit> waiter = new CompletableFuture<>();

  @Actor
  public void end() {
    held.close();
  }

  @Actor
  public void join() {
    waiter = limiter.acquireAsync(Duration.ofDays(1));
  }

  @Arbiter
  public void after(ZI_Result result) {
    result.r1 = waiter.isDone();
    result.r2 = limiter.inFlight();
  }
}
