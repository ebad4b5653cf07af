package dev.weir.shared;

import dev.weir.Algorithm;
import dev.weir.testkit.RecordChangeContract;
import dev.weir.testkit.StoreKind;
import java.util.List;

/** Numbers of single keys, over a transport without a network. */
class SharedRecordChangeTest extends RecordChangeContract {
  @Override
  protected StoreKind kind() {
    return SharedStoreTest.KIND;
  }

  /**
   * Returns some algorithms only: the server of this test counts the waits of the others in
   * nanoseconds.
   */
  @Override
  protected List<Algorithm> algorithms() {
    return List.of(Algorithm.SLIDING_WINDOW_LOG, Algorithm.FIXED_WINDOW);
  }
}
