package dev.weir.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.adaptive.RequestOutcome;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZI_Result;

/** A test in which two threads end the same permit of an adaptive limit. */
@JCStressTest
@Outcome(id = "true, false, 1", expect = ACCEPTABLE, desc = "The first has ended it.")
@Outcome(id = "false, true, 1", expect = ACCEPTABLE, desc = "The second has ended it.")
@Outcome(expect = FORBIDDEN, desc = "Both have ended it, or nobody, or there are two.")
@State
public class AdaptiveReturn {
  private final AdaptiveLimiter limiter = AdaptiveLimiter.builder().initial(2).ceiling(2).build();
  private final AdaptivePermit held = limiter.tryAcquire();
  private final AdaptivePermit other = limiter.tryAcquire();

  @Actor
  public void first(ZZI_Result result) {
    result.r1 = held.end(RequestOutcome.IGNORED);
  }

  @Actor
  public void second(ZZI_Result result) {
    result.r2 = held.end(RequestOutcome.SUCCEEDED);
  }

  @Arbiter
  public void after(ZZI_Result result) {
    while (!other.hasEnded() && limiter.tryAcquire().granted()) {
      result.r3++;
    }
  }
}
