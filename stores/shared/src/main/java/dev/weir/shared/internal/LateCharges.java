package dev.weir.shared.internal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The charges of replies that came too late, until they are given back. Safe for use by many
 * threads.
 */
public final class LateCharges {
  /*
   * Why are they collected? A bucket takes back all of a charge only if it is its newest, and what
   * it takes back of an older one bars those after it. Calls that are late together are answered
   * together and in their order, so the oldest charge comes first. Refunds therefore wait for the
   * replies that are still missing, and then the newest charge of all is given back first.
   */

  private final Queue<Refund> refunds = new ConcurrentLinkedQueue<>();
  private final AtomicInteger missing = new AtomicInteger();

  /** Records that a call has no reply in time; {@link #replied} follows, or the call is lost. */
  public void expired() {
    missing.incrementAndGet();
  }

  /** Records the late reply to a call, whatever it is, after its charges were added. */
  public void replied() {
    missing.decrementAndGet();
  }

  /** Adds the refund of a charge. */
  public void add(Refund refund) {
    refunds.add(refund);
  }

  public boolean isEmpty() {
    return refunds.isEmpty();
  }

  /** Returns whether no reply is missing, so that what was added can be given back. */
  public boolean isComplete() {
    return missing.get() <= 0;
  }

  /** Returns the refunds that were added, in the order in which they are to be made. */
  public List<Refund> take() {
    List<Refund> taken = new ArrayList<>();
    for (Refund next = refunds.poll(); next != null; next = refunds.poll()) {
      taken.add(next);
    }
    taken.sort(Comparator.comparingLong(Refund::resetNanos).reversed());
    return taken;
  }
}
