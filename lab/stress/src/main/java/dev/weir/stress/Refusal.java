package dev.weir.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.weir.Algorithm;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZZ_Result;

/**
 * A test that a key that has used up its permit is refused, even while the slots around it are
 * being moved.
 */
@JCStressTest
@Outcome(id = "true, true, false, false", expect = ACCEPTABLE, desc = "Refused all along.")
@Outcome(expect = FORBIDDEN, desc = "A reader took a moved slot for a new key.")
@State
public class Refusal extends Meeting {
  public Refusal() {
    super(Algorithm.SLIDING_WINDOW_COUNTER, 1, 2);
  }

  @Actor
  public void grows(ZZZZ_Result result) {
    result.r1 = request(3);
    result.r2 = request(4);
  }

  @Actor
  public void refused(ZZZZ_Result result) {
    result.r3 = request(1);
    result.r4 = request(2);
  }
}
