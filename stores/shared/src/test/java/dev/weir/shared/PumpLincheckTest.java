package dev.weir.shared;

import dev.weir.testkit.Trials;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Threads that pump and hold in any order: no work is left when all of them have gone. */
@Tag("model")
@Tag("sample")
public class PumpLincheckTest {
  private final Queue<Integer> brought = new ConcurrentLinkedQueue<>();
  private final Pump pump = new Pump(brought::clear);

  private void bring(int what) {
    brought.add(what);
    pump.run();
  }

  @Operation
  public void one() {
    bring(1);
  }

  @Operation
  public void severalTogether() {
    boolean held = pump.hold();
    bring(1);
    bring(2);
    if (held) {
      pump.release();
    }
  }

  @Validate
  public void nothingIsLeft() {
    if (!brought.isEmpty()) {
      throw new IllegalStateException("left: " + brought);
    }
  }

  @Test
  void interleavings_oneByOne_leaveNothing() {
    new ModelCheckingOptions()
        .threads(3)
        .actorsPerThread(2)
        .iterations(Trials.unseeded("pump, modelled threads", Trials.runs(1, 3)))
        .invocationsPerIteration(200)
        .check(PumpLincheckTest.class);
  }

  @Test
  void realThreads_leaveNothing() {
    new StressOptions()
        .threads(3)
        .actorsPerThread(3)
        .iterations(Trials.unseeded("pump, real threads", 3))
        .invocationsPerIteration(200)
        .check(PumpLincheckTest.class);
  }
}
