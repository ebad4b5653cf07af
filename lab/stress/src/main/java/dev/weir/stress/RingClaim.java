package dev.weir.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.weir.Algorithm;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZZ_Result;

/** The test of {@link SlotClaim} with the state in a page of a slab that is published. */
@JCStressTest
@Outcome(id = "true, false, false, false", expect = ACCEPTABLE, desc = "The first has it.")
@Outcome(id = "false, true, false, false", expect = ACCEPTABLE, desc = "The second has it.")
@Outcome(expect = FORBIDDEN, desc = "Both have it, or nobody, or it is forgotten.")
@State
public class RingClaim extends Meeting {
  public RingClaim() {
    super(Algorithm.SLIDING_WINDOW);
  }

  @Actor
  public void first(ZZZZ_Result result) {
    result.r1 = request(1);
  }

  @Actor
  public void second(ZZZZ_Result result) {
    result.r2 = request(1);
  }

  @Arbiter
  public void after(ZZZZ_Result result) {
    result.r3 = request(1);
    result.r4 = request(1);
  }
}
