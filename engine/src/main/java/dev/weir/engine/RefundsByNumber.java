package dev.weir.engine;

import dev.weir.Charges;
import dev.weir.engine.internal.matching.PendingRequest;
import dev.weir.engine.internal.matching.RefusedPermits;
import java.util.concurrent.atomic.LongAdder;

/**
 * The refunds of descriptors that name a number of permits and no charge. Safe for use by many
 * threads.
 */
final class RefundsByNumber {
  /*
   * Which permits are given back? First those that the same request is charged for the same key:
   * the two are one change (PendingRequest.netRefunds). Of the rest, those that were refused before
   * and so were never charged are dropped (RefusedPermits). What is left is given back by the store
   * that counts the key, before the request is decided, if that is this process's own. Other stores
   * give nothing back: the process that refused the permits may be another one than the process
   * that is to give them back, and would not know.
   */

  private final RoutedStore store;
  private final RefusedPermits refused = new RefusedPermits();
  private final LongAdder given = new LongAdder();
  private final LongAdder kept = new LongAdder();

  RefundsByNumber(RoutedStore store) {
    this.store = store;
  }

  /** Gives back what a request says, if it is about to be decided for the first time. */
  void give(PendingRequest pending) {
    if (!pending.hasRefunds() || !pending.isFirst()) {
      return;
    }
    for (int i = 0; i < pending.size(); i++) {
      long permits = pending.descriptor(i).refund();
      if (permits > 0) {
        give(pending, i);
      }
    }
  }

  private void give(PendingRequest pending, int i) {
    long rest = pending.refund(i);
    long back = rest - refusedBefore(pending, i, rest);
    kept.add(rest - back);
    if (back > 0) {
      Charges charges = pending.charges();
      int charge = pending.charge(i);
      store.refundNewest(
          charges.binding(charge),
          charges.fingerprint(charge),
          back,
          pending.nowNanos(),
          done -> {
            given.add(done);
            kept.add(back - done);
          });
    }
  }

  /** Returns how many of the permits were not charged, or cannot be given back. */
  private long refusedBefore(PendingRequest pending, int i, long permits) {
    Charges charges = pending.charges();
    int charge = pending.charge(i);
    if (charge < 0 || !store.isUnshared(charges.binding(charge))) {
      return permits;
    }
    // A request that takes as much as it gives back is the end of a refused one as well.
    long cancelled = pending.cancelled(i);
    long wanted = cancelled > 0 ? cancelled : permits;
    long refusedPermits = refused.take(charges, charge, wanted, pending.nowNanos());
    return cancelled > 0 ? 0 : refusedPermits;
  }

  /** Records what a request was refused, before its answer is sent. */
  void decided(PendingRequest pending) {
    if (pending.hasRefunds() && pending.isFirst()) {
      for (int i = 0; i < pending.size(); i++) {
        long ofRequest = pending.descriptor(i).refund() - pending.refund(i);
        Charges charges = pending.charges();
        boolean made = charges.allowed() || charges.anyReports(); // A settlement is always made.
        (made ? given : kept).add(ofRequest);
      }
    }
    if (pending.isFirst()) {
      refused.decided(pending.charges(), pending.nowNanos());
    } else if (pending.isTurn() && pending.charges().allowed()) {
      charged(pending.charges(), pending.nowNanos());
    }
  }

  /** Drops what was refused when a request came that is charged now, after it has waited. */
  private void charged(Charges charges, long nowNanos) {
    for (int i = 0; i < charges.size(); i++) {
      if (charges.fits(i)) {
        long unused = refused.take(charges, i, charges.permits(i), nowNanos);
      }
    }
  }

  RefundMetrics metrics() {
    return new RefundMetrics(given.sum(), kept.sum());
  }
}
