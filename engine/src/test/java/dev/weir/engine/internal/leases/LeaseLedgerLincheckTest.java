package dev.weir.engine.internal.leases;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.engine.internal.leases.LeaseLedger.Entry;
import dev.weir.engine.internal.leases.LeaseLedger.OutstandingCharges;
import dev.weir.testkit.Trials;
import java.util.List;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two returns of one lease and its end, at the same time: one of them gets its charges, and gives
 * their place back.
 */
@Tag("model")
@Tag("sample")
public class LeaseLedgerLincheckTest {
  private static final String MAP = "java.util.concurrent.ConcurrentHashMap";
  private static final long PERMITS = 3;
  private static final long END = 1_000;
  private static final Entry ENTRY = entry();

  private final LeaseLedger ledger = new LeaseLedger(1);
  private final long lease;

  public LeaseLedgerLincheckTest() {
    ledger.reserve(1);
    lease = ledger.add(new OutstandingCharges(List.of(ENTRY), true, END));
  }

  private static Entry entry() {
    MemoryStore store = new MemoryStore();
    Binding binding = store.bind("lent", Policy.of(Quota.perSecond(PERMITS)), 0);
    Charges charges = new Charges().add(binding, 1, PERMITS);
    store.decide(charges, 0, done -> {});
    return new Entry(binding, 1, PERMITS, charges.decision(0));
  }

  @Operation(runOnce = true)
  public boolean giveBack() {
    return ledger.take(lease, true) != null;
  }

  @Operation(runOnce = true)
  public boolean giveBackAgain() {
    return giveBack();
  }

  @Operation(runOnce = true)
  public long expire() {
    return ledger.expire(END);
  }

  @Validate
  public void placeIsGivenBackOnce() {
    if (ledger.size() != 0) {
      throw new IllegalStateException("places: " + ledger.size() + " (expected: 0)");
    }
  }

  /**
   * Each thread does one of the three. A call of the map is one step: the steps within it depend on
   * the lease's number, which is random, and could not be repeated.
   */
  @Test
  void interleavings_oneByOne_areLinearizable() {
    new ModelCheckingOptions()
        .threads(3)
        .actorsPerThread(1)
        .actorsBefore(0)
        .actorsAfter(0)
        .addGuarantee(
            forClasses(MAP, MAP + "$KeySetView", MAP + "$KeyIterator", MAP + "$Traverser")
                .allMethods()
                .treatAsAtomic())
        .iterations(Trials.unseeded("ledger of leases, modelled threads", 1))
        .invocationsPerIteration(100)
        .check(LeaseLedgerLincheckTest.class);
  }
}
