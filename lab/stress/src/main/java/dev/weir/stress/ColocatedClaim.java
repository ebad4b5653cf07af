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
 * A test like {@link JointClaim} in which the second thread first moves the limits into one slot of
 * the key, while the first one requests. It has two threads and not three: jcstress leaves out what
 * needs more threads than there are processors.
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
  public void moveAndRequest(ZZZZ_Result result) {
    colocate();
    result.r2 = requestBackwards();
  }

  @Arbiter
  public void after(ZZZZ_Result result) {
    requestEach(result);
  }
}
