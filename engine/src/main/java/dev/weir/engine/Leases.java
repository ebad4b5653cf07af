package dev.weir.engine;

import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.engine.internal.leases.LeaseLedger;
import dev.weir.engine.internal.leases.LeaseLedger.Entry;
import dev.weir.engine.internal.leases.LeaseLedger.Outstanding;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Lends permits of rules with {@code consistency: leased} to clients, which spend them on their
 * own, and takes back what they do not need. Safe for use by many threads.
 */
public final class Leases {
  /*
   * How are leases designed, and why do limits hold? The permits of a lease are charged when it is
   * granted, at g. The client spends them until L after it asked, which was before g; so each is
   * spent within [g, g + L]. They count for W + L, so those spent within any window (t - W, t] were
   * charged within (t - W - L, t]: at most N. Where windows begin by the clock, a lease ends with its
   * window instead. Nothing depends on what time the client has, only on how fast its clock goes.
   *
   * How much is lent is Allotments' rule: what is wanted at once, and some ahead, but at most a
   * quarter of what remains. What is wanted at once is a request like any other. What is ahead is
   * charged after it, for itself, so that it never has the request refused.
   *
   * A lease is returned at most once, and what is given back is at most what was lent and what
   * certainly still counts (Store.refund). A lease that is forgotten, by either side, only leaves
   * permits charged that were not spent.
   */

  /** A return may be on its way when the lease ends. */
  static final long KEPT_NANOS = 1_000_000_000L;

  /** How long a request can be refunded at most: a client that has to wait longer waits in vain. */
  static final long MOST_REFUNDABLE_NANOS = 60_000_000_000L;

  final LeaseLedger ledger;
  final LongAdder granted = new LongAdder();
  final LongAdder lent = new LongAdder();
  final LongAdder full = new LongAdder();
  private final Engine engine;
  private final Store store;
  private final Ticker ticker;
  private final LongAdder asks = new LongAdder();
  private final LongAdder returned = new LongAdder();
  private final LongAdder takenBack = new LongAdder();
  private final LongAdder expired = new LongAdder();
  private final LongAdder unknown = new LongAdder();

  Leases(Engine engine, Store store, Ticker ticker, LeaseLedger ledger) {
    this.engine = engine;
    this.store = store;
    this.ticker = ticker;
    this.ledger = ledger;
  }

  /**
   * Decides the request, and lends what its client may have ahead. Calls {@code done} exactly once,
   * as {@link Engine#decide(dev.weir.rules.Request, Consumer)} does.
   */
  public void ask(LeaseAsk ask, Consumer<? super Grant> done) {
    asks.increment();
    engine.decideLending(
        ask.request(),
        (charged, answer) -> new Lending(this, store, ticker, ask, charged, answer, done).begin());
  }

  /**
   * Ends a lease, and gives back what is left of it. Does nothing if it is unknown: it may have
   * been returned before, have ended, or be one of a server that was there before.
   *
   * @param permits how many were not spent; at most what was lent counts
   * @param done is given how many can be spent by others again, at least 0
   */
  public void giveBack(long lease, long permits, LongConsumer done) {
    Outstanding known = ledger.take(lease, true);
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
   * Gives back what a request was charged. Does nothing if the charge is unknown, as {@link
   * #giveBack}.
   *
   * @param done is given how many permits, of all descriptors together, can be spent again
   */
  public void refund(long charge, LongConsumer done) {
    Outstanding known = ledger.take(charge, false);
    if (known == null) {
      unknown.increment();
      done.accept(0);
    } else {
      giveBack(known, known.entries().size() - 1, Long.MAX_VALUE, 0, done);
    }
  }

  /** The last charge first: a bucket takes back all of a charge only if it is its latest. */
  private void giveBack(Outstanding known, int i, long mostPermits, long given, LongConsumer done) {
    if (i < 0 || mostPermits == 0) {
      takenBack.add(given);
      done.accept(given);
      return;
    }
    Entry entry = known.entries().get(i);
    store.refund(
        entry.binding(),
        entry.fingerprint(),
        Math.min(mostPermits, entry.permits()),
        entry.charged(),
        ticker.nanos(),
        back -> giveBack(known, i - 1, mostPermits, given + back, done));
  }

  /** Forgets what is over. */
  void expire() {
    expired.add(ledger.expire(ticker.nanos()));
  }

  /** Returns what has been counted. */
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
