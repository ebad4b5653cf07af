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

/**
 * A test in which two threads add one key each to a full segment, so that both may have to move its
 * slots.
 */
@JCStressTest
@Outcome(id = "true, true, false, false", expect = ACCEPTABLE, desc = "Each has its own.")
@Outcome(expect = FORBIDDEN, desc = "A key is lost, or counted as another.")
@State
public class Growth extends Meeting {
  public Growth() {
    super(Algorithm.TOKEN_BUCKET, 1, 2);
  }

  @Actor
  public void first(ZZZZ_Result result) {
    result.r1 = request(3);
  }

  @Actor
  public void second(ZZZZ_Result result) {
    result.r2 = request(4);
  }

  @Arbiter
  public void after(ZZZZ_Result result) {
    result.r3 = request(3) || request(1);
    result.r4 = request(4) || request(2);
  }
}
