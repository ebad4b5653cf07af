package dev.weir.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.weir.Algorithm;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A test in which the algorithm changes while a key is requested: its permit is given once, before
 * or after.
 */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "Given once.")
@Outcome(expect = FORBIDDEN, desc = "Not given, or given twice.")
@State
public class RuleChange extends Meeting {
  public RuleChange() {
    super(Algorithm.SLIDING_WINDOW_LOG);
  }

  @Actor
  public void asks(ZZ_Result result) {
    result.r1 = request(1);
  }

  @Actor
  public void changes() {
    putInForce(Algorithm.SLIDING_WINDOW_BUCKETS);
  }

  @Arbiter
  public void after(ZZ_Result result) {
    result.r2 = request(1);
  }
}
