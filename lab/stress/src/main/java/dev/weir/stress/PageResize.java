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
 * A test that a key that has used up its permit is refused, even while the page of its state is
 * doubled again and again, and then halved.
 */
@JCStressTest
@Outcome(id = "true, true, false, false", expect = ACCEPTABLE, desc = "Refused all along.")
@Outcome(expect = FORBIDDEN, desc = "A reader took another page's state for the key's.")
@State
public class PageResize extends Meeting {
  /** The number of keys: so many that a page of two states becomes one of sixteen. */
  private static final int MOST_KEYS = 10;

  public PageResize() {
    super(Algorithm.SLIDING_WINDOW_LOG, 1, 2);
  }

  @Actor
  public void resizes(ZZZZ_Result result) {
    boolean added = true;
    for (int key = 3; key <= MOST_KEYS; key++) {
      added &= request(key);
    }
    result.r1 = added;
    boolean forgotten = true;
    for (int key = MOST_KEYS; key >= 3; key--) {
      forgotten &= forget(key);
    }
    result.r2 = forgotten;
  }

  @Actor
  public void refused(ZZZZ_Result result) {
    result.r3 = request(1);
    result.r4 = request(2);
  }
}
