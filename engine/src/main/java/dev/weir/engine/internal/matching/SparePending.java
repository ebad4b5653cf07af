package dev.weir.engine.internal.matching;

import java.util.ArrayList;
import java.util.List;

/**
 * The pending requests that one thread can reuse, so that deciding allocates none. A request whose
 * answer comes later, on another thread, does not return here.
 */
public final class SparePending {
  /**
   * The most requests that are kept, as many as a pipeline usually holds; a longer one allocates
   * more, and drops them.
   */
  private static final int MAX_KEPT = 64;

  /**
   * The most descriptors of a request that is kept. Larger ones are rare: every thread would hold
   * their memory for good.
   */
  private static final int MAX_DESCRIPTORS = 16;

  private final List<PendingRequest> kept = new ArrayList<>(1);

  /** Returns a cleared request. */
  public PendingRequest take() {
    int size = kept.size();
    return size == 0 ? new PendingRequest() : kept.remove(size - 1);
  }

  /** Takes back a request to which nothing refers any more, unless it is to be kept. */
  public void giveBack(PendingRequest pending) {
    if (pending.isReusable() && kept.size() < MAX_KEPT && pending.capacity() <= MAX_DESCRIPTORS) {
      pending.clear();
      kept.add(pending);
    }
  }
}
