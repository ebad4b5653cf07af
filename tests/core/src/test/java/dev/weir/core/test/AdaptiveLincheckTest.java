package dev.weir.core.test;

import dev.weir.adaptive.AdaptiveAlgorithm;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.adaptive.RequestOutcome;
import dev.weir.testkit.Trials;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Permits that are taken and end while the limit falls have the results of some order of the
 * operations, one after the other: at no instant is one given out beyond the limit of that instant.
 *
 * <p>A limit that falls is one operation, and so is a permit that ends; a second end of the same
 * permit, which does nothing, is not, since it may return before the first has finished. So these
 * are made by one thread; {@code lab/stress} has two that end one permit.
 */
@Tag("model")
@Param(name = "taken", gen = IntGen.class, conf = "0:2")
public class AdaptiveLincheckTest {
  private final AdaptiveLimiter limiter =
      AdaptiveLimiter.builder()
          .algorithm(AdaptiveAlgorithm.AIMD)
          .initial(3)
          .ceiling(3)
          .ticker(() -> 1)
          .build();

  private final AdaptivePermit[] held = {
    limiter.tryAcquire(), limiter.tryAcquire(), limiter.tryAcquire()
  };

  @Operation
  public boolean take() {
    return limiter.tryAcquire().granted();
  }

  @Operation(nonParallelGroup = "ends")
  public boolean end(@Param(name = "taken") int taken) {
    return held[taken].end(RequestOutcome.IGNORED);
  }

  @Operation(nonParallelGroup = "ends")
  public boolean fall(@Param(name = "taken") int taken) {
    return held[taken].record(RequestOutcome.DROPPED);
  }

  @Test
  void interleavings_oneByOne_areLinearizable() {
    new ModelCheckingOptions()
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(0)
        .actorsAfter(1)
        .iterations(Trials.unseeded("adaptive limiter, modelled threads", Trials.runs(5, 30)))
        .invocationsPerIteration(200)
        .check(AdaptiveLincheckTest.class);
  }

  @Test
  void realThreads_areLinearizable() {
    new StressOptions()
        .threads(3)
        .actorsPerThread(3)
        .actorsBefore(0)
        .actorsAfter(1)
        .iterations(Trials.unseeded("adaptive limiter, real threads", Trials.runs(5, 30)))
        .invocationsPerIteration(1_000)
        .check(AdaptiveLincheckTest.class);
  }
}
