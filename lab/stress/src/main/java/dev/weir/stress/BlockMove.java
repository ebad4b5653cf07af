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
 * A test that a key that has used up its permit is refused, even while its state fills a freed
 * block.
 */
@JCStressTest
@Outcome(id = "true, true, false, false", expect = ACCEPTABLE, desc = "Refused all along.")
@Outcome(expect = FORBIDDEN, desc = "A reader took a moved state for another one.")
@State
public class BlockMove extends Meeting {
  public BlockMove() {
    super(Algorithm.SLIDING_WINDOW_LOG, 1, 2, 3);
  }

  @Actor
  public void frees(ZZZZ_Result result) {
    result.r1 = forget(1);
    result.r2 = forget(2);
  }

  @Actor
  public void refused(ZZZZ_Result result) {
    result.r3 = request(3);
    result.r4 = request(3);
  }
}
