package dev.weir.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.weir.Decision;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZZ_Result;

/** A test in which two threads give the same seat back. */
@JCStressTest
@Outcome(id = "true, false, true, false", expect = ACCEPTABLE, desc = "The first gave it back.")
@Outcome(id = "false, true, true, false", expect = ACCEPTABLE, desc = "The second gave it back.")
@Outcome(expect = FORBIDDEN, desc = "Both gave it back, or nobody, or there are two.")
@State
public class SeatReturn extends OneSeat {
  private final Decision taken = take();

  @Actor
  public void first(ZZZZ_Result result) {
    result.r1 = release(taken);
  }

  @Actor
  public void second(ZZZZ_Result result) {
    result.r2 = release(taken);
  }

  @Arbiter
  public void after(ZZZZ_Result result) {
    result.r3 = take().allowed();
    result.r4 = take().allowed();
  }
}
