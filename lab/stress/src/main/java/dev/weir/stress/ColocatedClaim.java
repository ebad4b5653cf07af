package dev.weir.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZZ_Result;

/**
 * A test like {@link JointClaim} in which a third thread moves the limits into one slot of the key.
 */
@JCStressTest
@Outcome(id = "true, false, false, false", expect = ACCEPTABLE, desc = "The first has both.")
@Outcome(id = "false, true, false, false", expect = ACCEPTABLE, desc = "The second has both.")
@Outcome(expect = FORBIDDEN, desc = "Each has one, or nobody, or a charge is forgotten.")
@State
public class ColocatedClaim extends TwoLimits {
  @Actor
  public void first(ZZZZ_Result result) {
    result.r1 = request();
  }

  @Actor
  public void second(ZZZZ_Result result) {
    result.r2 = requestBackwards();
  }

  @Actor
  public void move() {
    colocate();
  }

  @Arbiter
  public void after(ZZZZ_Result result) {
    requestEach(result);
  }
}
