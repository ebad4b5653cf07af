package dev.weir.client.internal.lease;

import dev.weir.Ticker;
import dev.weir.client.internal.wire.Service;
import dev.weir.client.internal.wire.ServiceLog;
import dev.weir.client.internal.wire.Wire;
import dev.weir.engine.Answer;
import dev.weir.shared.Clocks;
import dev.weir.testkit.Trials;
import java.util.List;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that concurrent spends, puts and closes of a lease have the same results as in some order:
 * no permit is spent twice, or both spent and returned.
 */
@Tag("model")
@Tag("sample")
public class LeaseLincheckTest {
  private static final Ticker STOPPED = () -> 0;
  private static final Clocks CLOCKS = new Clocks(STOPPED, STOPPED);

  private final Lease lease =
      new Lease(
          1,
          new Service(new NoWire(), CLOCKS, 1, new Counters(), new ServiceLog("none")),
          3,
          CLOCKS.now(),
          1_000_000_000,
          Answer.of(true, List.of(), null, 1));

  @Operation
  public boolean one() {
    return lease.spend(1, CLOCKS);
  }

  @Operation
  public boolean two() {
    return lease.spend(2, CLOCKS);
  }

  @Operation
  public boolean putOne() {
    return lease.put(1);
  }

  @Operation
  public long close() {
    return lease.close();
  }

  @Test
  void interleavings_oneByOne_areLinearizable() {
    new ModelCheckingOptions()
        .threads(3)
        .actorsPerThread(3)
        .iterations(Trials.unseeded("lease, modelled threads", 2))
        .invocationsPerIteration(100)
        .check(LeaseLincheckTest.class);
  }

  @Test
  void realThreads_areLinearizable() {
    new StressOptions()
        .threads(3)
        .actorsPerThread(3)
        .iterations(Trials.unseeded("lease, real threads", 5))
        .invocationsPerIteration(200)
        .check(LeaseLincheckTest.class);
  }

  private static final class NoWire implements Wire {
    @Override
    public void send(dev.weir.protocol.v1.WeirProto.LeaseRequest message, Reply reply) {}

    @Override
    public void reset() {}

    @Override
    public void close() {}
  }
}
