package dev.weir.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZZ_Result;

/** A test in which two threads take the last seat of a key. */
@JCStressTest
@Outcome(id = "true, false, false, false", expect = ACCEPTABLE, desc = "The first has it.")
@Outcome(id = "false, true, false, false", expect = ACCEPTABLE, desc = "The second has it.")
@Outcome(expect = FORBIDDEN, desc = "Both have it, or nobody, or it is forgotten.")
@State
public class SeatClaim extends OneSeat {
  @Actor
  public void first(ZZZZ_Result result) {
    result.r1 = take().allowed();
  }

  @Actor
  public void second(ZZZZ_Result result) {
    result.r2 = take().allowed();
  }

  @Arbiter
  public void after(ZZZZ_Result result) {
    result.r3 = take().allowed();
    result.r4 = take().allowed();
  }
}
