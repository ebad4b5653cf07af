package dev.weir.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.adaptive.RequestOutcome;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * A test in which the limit of an adaptive limiter falls, and then a permit ends, while another is
 * taken: at no instant is there room for it.
 */
@JCStressTest
@Outcome(id = "false", expect = ACCEPTABLE, desc = "There was no room.")
@Outcome(expect = FORBIDDEN, desc = "It was taken by the limit of before and the count of after.")
@State
public class AdaptiveFall {
  private final AdaptiveLimiter limiter = AdaptiveLimiter.builder().initial(2).ceiling(2).build();
  private final AdaptivePermit first = limiter.tryAcquire();
  private final AdaptivePermit second = limiter.tryAcquire();

  @Actor
  public void fall() {
    boolean unused = first.end(RequestOutcome.DROPPED);
  }

  @Actor
  public void take(Z_Result result) {
    result.r1 = !second.hasEnded() && limiter.tryAcquire().granted();
  }
}
