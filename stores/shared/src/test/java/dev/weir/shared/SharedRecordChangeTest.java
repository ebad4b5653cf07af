package dev.weir.shared;

import dev.weir.Algorithm;
import dev.weir.Store;
import dev.weir.testkit.RecordChangeContract;
import java.util.List;

/** Numbers of single keys, over a transport without a network. */
class SharedRecordChangeTest extends RecordChangeContract {
  @Override
  protected Store createStore() {
    return SharedStoreTest.emptyStore();
  }

  @Override
  protected long resolutionNanos() {
    return Result.NANOS_PER_MICRO;
  }

  /**
   * Returns some algorithms only: the server of this test counts the waits of the others in
   * nanoseconds.
   */
  @Override
  protected List<Algorithm> algorithms() {
    return List.of(Algorithm.SLIDING_WINDOW_LOG, Algorithm.FIXED_WINDOW);
  }

  @Override
  protected double effort() {
    return 0.05;
  }

  @Override
  protected boolean countsState() {
    return false;
  }
}
