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

/** A test in which one thread ends the only permit of an adaptive limit while another takes one. */
@JCStressTest
@Outcome(id = "true, true, 0", expect = ACCEPTABLE, desc = "It has passed on.")
@Outcome(id = "true, false, 1", expect = ACCEPTABLE, desc = "It came too late.")
@Outcome(expect = FORBIDDEN, desc = "Two have it, or it is lost.")
@State
public class AdaptiveHandover {
  private final AdaptiveLimiter limiter = AdaptiveLimiter.builder().initial(1).ceiling(1).build();
  private final AdaptivePermit held = limiter.tryAcquire();

  @Actor
  public void first(ZZI_Result result) {
    result.r1 = held.end(RequestOutcome.IGNORED);
  }

  @Actor
  public void second(ZZI_Result result) {
    result.r2 = limiter.tryAcquire().granted();
  }

  @Arbiter
  public void after(ZZI_Result result) {
    while (limiter.tryAcquire().granted()) {
      result.r3++;
    }
  }
}
