package dev.weir.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZZ_Result;

/**
 * A test in which two threads request the one permit of two limits, in opposite order, which a
 * third thread moves into one slot of a key: one thread gets both permits, and the other none.
 */
@JCStressTest
@Outcome(id = "true, false, false, false", expect = ACCEPTABLE, desc = "The first has both.")
@Outcome(id = "false, true, false, false", expect = ACCEPTABLE, desc = "The second has both.")
@Outcome(expect = FORBIDDEN, desc = "Each has one, or nobody, or a charge is forgotten.")
@State
public class ColocatedClaim {
  private static final long KEY = 7;

  private final MemoryStore store = new MemoryStore(1_000, 1 << 20);
  private final Binding log = bind("log", Algorithm.SLIDING_WINDOW_LOG);
  private final Binding bucket = bind("bucket", Algorithm.TOKEN_BUCKET);

  private Binding bind(String name, Algorithm algorithm) {
    return store.bind(name, Policy.builder(Quota.perSecond(1)).algorithm(algorithm).build(), 0);
  }

  private boolean request(Binding first, Binding second) {
    Charges charges = new Charges().add(first, KEY, 1).add(second, KEY, 1);
    store.decide(charges, 0);
    return charges.allowed();
  }

  @Actor
  public void first(ZZZZ_Result result) {
    result.r1 = request(log, bucket);
  }

  @Actor
  public void second(ZZZZ_Result result) {
    result.r2 = request(bucket, log);
  }

  @Actor
  public void move() {
    store.colocate(List.of(log, bucket));
  }

  @Arbiter
  public void after(ZZZZ_Result result) {
    result.r3 = store.decide(log, KEY, 1, 0) >= 0;
    result.r4 = store.decide(bucket, KEY, 1, 0) >= 0;
  }
}
