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

/** A test in which one thread gives the last seat back while another takes it. */
@JCStressTest
@Outcome(id = "true, true, false, false", expect = ACCEPTABLE, desc = "It has passed on.")
@Outcome(id = "true, false, true, false", expect = ACCEPTABLE, desc = "It came too late.")
@Outcome(expect = FORBIDDEN, desc = "Two have it, or it is lost, or still out.")
@State
public class SeatHandover extends OneSeat {
  private final Decision taken = take();

  @Actor
  public void first(ZZZZ_Result result) {
    result.r1 = release(taken);
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
