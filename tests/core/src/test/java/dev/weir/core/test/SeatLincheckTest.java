package dev.weir.core.test;

import dev.weir.Binding;
import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.testkit.Trials;
import java.time.Duration;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Seats of one key that are taken, renewed and given back at the same time have the results of some
 * order of the operations, one after the other.
 */
@Tag("model")
@Param(name = "taken", gen = IntGen.class, conf = "0:3")
public class SeatLincheckTest {
  private final MemoryStore store = new MemoryStore();
  private final Binding seats =
      store.bind("seats", Policy.concurrency(2, Duration.ofSeconds(1)).build(), 0);

  /** Returns the instant at which the seat was taken, which is the number of changes before. */
  @Operation
  public long take() {
    Decision answer = store.decision(seats, 1, 1, 0);
    return answer.allowed() ? answer.atNanos() : -1;
  }

  @Operation
  public long release(@Param(name = "taken") int taken) {
    return store.refund(seats, 1, 1, seat(taken), 0);
  }

  @Operation
  public boolean renew(@Param(name = "taken") int taken) {
    return store.renew(seats, 1, seat(taken), 0);
  }

  @Operation
  public long releaseFirst() {
    return store.refundNewest(seats, 1, 1, 0);
  }

  private static Decision seat(int taken) {
    return new Decision(true, Reason.WITHIN_LIMIT, "seats", 2, 0, 0, 1_000_000_000L, taken);
  }

  @Test
  void interleavings_oneByOne_areLinearizable() {
    new ModelCheckingOptions()
        .threads(2)
        .actorsPerThread(2)
        .actorsBefore(2)
        .actorsAfter(1)
        .iterations(Trials.unseeded("seats of one key, modelled threads", Trials.runs(1, 1)))
        .invocationsPerIteration(100)
        .check(SeatLincheckTest.class);
  }

  @Test
  void realThreads_areLinearizable() {
    new StressOptions()
        .threads(3)
        .actorsPerThread(3)
        .actorsBefore(2)
        .actorsAfter(1)
        .iterations(Trials.unseeded("seats of one key, real threads", Trials.runs(1, 3)))
        .invocationsPerIteration(1_000)
        .check(SeatLincheckTest.class);
  }
}
