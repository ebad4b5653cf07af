package dev.weir.engine;

import dev.weir.engine.internal.leases.LeaseLedger;
import dev.weir.engine.internal.leases.LeaseLedger.Entry;
import dev.weir.engine.internal.leases.LeaseLedger.OutstandingCharges;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * The part of an engine that lends permits of rules with {@code consistency: leased} to clients,
 * which spend them on their own, and takes back permits that they do not need. Safe for use by many
 * threads.
 */
public final class Leases {
  /*
   * How are leases designed, and why do limits hold? The permits of a lease are charged when it is
   * granted, at g. The client spends them until L after it sent its request, which was before g; so
   * each is spent within [g, g + L]. They count for W + L, so those spent within any window (t - W,
   * t] were charged within (t - W - L, t]: at most N. If windows begin by the clock, a lease ends
   * with its window instead. Nothing depends on the time of the client's clock, only on its speed.
   *
   * The amount of a loan follows the rule of Allotments: the permits wanted at once, and some
   * ahead, but at most a quarter of those that remain. The permits wanted at once are a request
   * like any other. Those ahead are charged after it, by themselves, so that they never cause the
   * request to be refused.
   *
   * A lease is returned at most once, and the permits given back are at most those that were lent
   * and certainly still count (Store.refund). A lease that is forgotten, by either side, only
   * leaves permits charged that were not spent.
   */

  /** The time for which a lease is kept after its end: a return may still be on its way. */
  static final long KEPT_NANOS = 1_000_000_000L;

  /**
   * The longest time for which a request can be refunded: a client that waits longer gets nothing
   * back.
   */
  static final long MOST_REFUNDABLE_NANOS = 60_000_000_000L;

  final LeaseLedger ledger;
  final LongAdder granted = new LongAdder();
  final LongAdder lent = new LongAdder();
  final LongAdder full = new LongAdder();
  private final DecisionPath path;
  private final LongAdder asks = new LongAdder();
  private final LongAdder returned = new LongAdder();
  private final LongAdder takenBack = new LongAdder();
  private final LongAdder expired = new LongAdder();
  private final LongAdder unknown = new LongAdder();

  Leases(DecisionPath path, LeaseLedger ledger) {
    this.path = path;
    this.ledger = ledger;
  }

  /**
   * Decides the request, and lends its client permits ahead. Calls {@code done} exactly once, as
   * {@link Engine#decide(dev.weir.rules.Request, Consumer)} does.
   */
  public void decide(LoanRequest ask, Consumer<? super Grant> done) {
    asks.increment();
    path.decideLending(
        ask.request(),
        (charged, answer) ->
            new LeaseDecision(
                    this, path, new LeaseDecision.DecidedRequest(ask, charged, answer), done)
                .begin());
  }

  /**
   * Ends a lease, and gives back the rest of its permits. Does nothing if it is unknown: it may
   * have been returned before, have ended, or be one of an earlier server.
   *
   * @param permits how many were not spent; at most the number that was lent counts
   * @param done receives how many can be spent by others again, at least 0
   */
  public void giveBack(long lease, long permits, LongConsumer done) {
    OutstandingCharges known = ledger.take(lease, true);
    if (known == null) {
      unknown.increment();
      done.accept(0);
      return;
    }
    long unspent = Math.max(0, Math.min(permits, known.permits()));
    returned.add(unspent);
    giveBack(known, known.entries().size() - 1, unspent, 0, done);
  }

  /**
   * Gives back the permits that a request was charged. Does nothing if the charge is unknown, as
   * {@link #giveBack}.
   *
   * @param done receives how many permits, of all descriptors together, can be spent again
   */
  public void refund(long charge, LongConsumer done) {
    OutstandingCharges known = ledger.take(charge, false);
    if (known == null) {
      unknown.increment();
      done.accept(0);
    } else {
      giveBack(known, known.entries().size() - 1, Long.MAX_VALUE, 0, done);
    }
  }

  /**
   * Gives charges back, the last one first: a bucket takes back all of a charge only if it is its
   * latest.
   */
  private void giveBack(
      OutstandingCharges known, int i, long mostPermits, long given, LongConsumer done) {
    if (i < 0 || mostPermits == 0) {
      takenBack.add(given);
      done.accept(given);
      return;
    }
    Entry entry = known.entries().get(i);
    path.store.refund(
        entry.binding(),
        entry.fingerprint(),
        Math.min(mostPermits, entry.permits()),
        entry.charged(),
        path.ticker.nanos(),
        back -> giveBack(known, i - 1, mostPermits, given + back, done));
  }

  /** Forgets leases and charges whose time is over. */
  void expire() {
    expired.add(ledger.expire(path.ticker.nanos()));
  }

  /** Returns the counts. */
  public LeaseMetrics metrics() {
    return new LeaseMetrics(
        ledger.size(),
        ledger.max(),
        asks.sum(),
        granted.sum(),
        lent.sum(),
        returned.sum(),
        takenBack.sum(),
        expired.sum(),
        unknown.sum(),
        full.sum());
  }
}
