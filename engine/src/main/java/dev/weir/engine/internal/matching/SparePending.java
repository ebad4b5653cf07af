package dev.weir.engine.internal.matching;

import java.util.ArrayList;
import java.util.List;

/**
 * Pending requests that one thread can use again, so that deciding allocates none. A request whose
 * answer comes later, on another thread, does not return here.
 */
public final class SparePending {
  /** As many as a pipeline usually holds; a larger one has more allocated, and drops them. */
  private static final int MAX_KEPT = 64;

  /** Larger ones are rare, and are not kept: every thread would hold the memory for good. */
  private static final int MAX_DESCRIPTORS = 16;

  private final List<PendingRequest> kept = new ArrayList<>(1);

  /** Returns a cleared one. */
  public PendingRequest take() {
    int size = kept.size();
    return size == 0 ? new PendingRequest() : kept.remove(size - 1);
  }

  /** Takes one back that nothing refers to any more. */
  public void giveBack(PendingRequest pending) {
    if (kept.size() < MAX_KEPT && pending.capacity() <= MAX_DESCRIPTORS) {
      pending.clear();
      kept.add(pending);
    }
  }
}
