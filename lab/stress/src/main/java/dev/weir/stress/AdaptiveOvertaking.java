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
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A test in which the only permit of an adaptive limiter ends, for which a request waits, while
 * another that does not wait takes one.
 */
@JCStressTest
@Outcome(id = "false, true", expect = ACCEPTABLE, desc = "It has passed on in order.")
@Outcome(expect = FORBIDDEN, desc = "The request that waits was overtaken.")
@State
public class AdaptiveOvertaking {
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
  private final CompletableFuture<AdaptivePermit> waiter = limiter.acquireAsync(Duration.ofDays(1));

  @Actor
  public void end() {
    held.close();
  }

  @Actor
  public void take(ZZ_Result result) {
    result.r1 = limiter.tryAcquire().granted();
  }

  @Arbiter
  public void after(ZZ_Result result) {
    result.r2 = waiter.isDone();
  }
}
