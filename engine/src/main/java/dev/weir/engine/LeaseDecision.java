package dev.weir.engine;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Reason;
import dev.weir.engine.internal.leases.LeaseLedger.Entry;
import dev.weir.engine.internal.leases.LeaseLedger.OutstandingCharges;
import dev.weir.engine.internal.leases.LeaseTerms;
import dev.weir.engine.internal.matching.Match;
import dev.weir.engine.internal.matching.PendingRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** The loans to one client after its request was decided. */
final class LeaseDecision {
  /**
   * The most descriptors of a refundable request, as many as a request may have by default: one
   * refund is bounded work.
   */
  private static final int MOST_REFUNDABLE = 128;

  /**
   * A request that was decided for a client that can hold leases.
   *
   * @param charged the request, matched and decided
   */
  record DecidedRequest(LoanRequest ask, PendingRequest charged, Answer answer) {}

  private final Leases leases;
  private final DecisionPath path;
  private final LoanRequest ask;
  private final PendingRequest charged;
  private final Answer answer;
  private final Consumer<? super Grant> done;
  private final Loan[] loans;

  /** The number of loans that are not known yet, and one more until all have been requested. */
  private final AtomicInteger missing;

  private long charge;

  LeaseDecision(
      Leases leases, DecisionPath path, DecidedRequest decided, Consumer<? super Grant> done) {
    this.leases = leases;
    this.path = path;
    this.ask = decided.ask();
    this.charged = decided.charged();
    this.answer = decided.answer();
    this.done = done;
    loans = new Loan[answer.error() == null ? answer.statuses().size() : 0];
    missing = new AtomicInteger(loans.length + 1);
  }

  void begin() {
    if (loans.length != charged.size()) {
      done.accept(new Grant(answer, List.of(), 0));
      return;
    }
    charge = ask.refundable() ? refundable() : 0;
    for (int i = 0; i < loans.length; i++) {
      lend(i);
    }
    oneLess();
  }

  private void oneLess() {
    if (missing.decrementAndGet() == 0) {
      done.accept(new Grant(answer, Arrays.asList(loans), charge));
    }
  }

  private void known(int i, Loan loan) {
    loans[i] = loan;
    oneLess();
  }

  /** Lends permits of descriptor {@code i}, if there are any to be lent. */
  private void lend(int i) {
    Status status = answer.statuses().get(i);
    CurrentLimit limit = status.currentLimit();
    int place = charged.charge(i);
    if (limit == null) {
      known(i, Loan.NONE);
      return;
    }
    if (place == Match.NO_CHARGE) { // The subject's limits are unknown.
      known(i, new Loan(0, 0, 0, 0, 0, limit.policy().sharing(), false));
      return;
    }
    Charges charges = charged.charges();
    Binding binding = charges.binding(place);
    long asked = charges.permits(place);
    boolean report = charges.role(place).isReport(); // It is counted here, whatever is left.
    long refuseFor =
        asked > 0 && !report ? LeaseTerms.refusalNanos(status, answer, charged.revision()) : 0;
    boolean leased = !report && leases.ledger.max() > 0 && LeaseTerms.possible(limit, binding);
    Loan loan =
        new Loan(0, 0, 0, refuseFor, refuseFor > 0 ? asked : 0, limit.policy().sharing(), leased);
    boolean lends = leased && passes() && charges.fits(place) && asked > 0;
    long permits = lends ? LeaseTerms.ahead(status, ask.ahead(i)) : 0;
    if (permits > 0 && !leases.ledger.reserve(1)) {
      leases.full.increment();
      permits = 0;
    }
    if (permits > 0) {
      take(i, limit, binding, charges.fingerprint(place), permits, loan);
    } else {
      known(i, loan);
    }
  }

  /** Returns whether the request was charged. */
  private boolean passes() {
    return answer.allowed() && !answer.shadowed() && !charged.charges().peeking();
  }

  /** Charges permits that are lent, for which a place has been reserved. */
  private void take(
      int i, CurrentLimit limit, Binding binding, long fingerprint, long permits, Loan loan) {
    path.store.decide(
        new Charges().add(binding, fingerprint, permits).lend(),
        path.ticker.nanos(),
        taken -> {
          long life = LeaseTerms.lifeNanos(limit, binding, taken.atNanos(0));
          if (!taken.fits(0) || life <= 0) {
            leases.ledger.release(1);
            known(i, loan);
            return;
          }
          Entry entry = new Entry(binding, fingerprint, permits, taken.decision(0));
          long end = path.ticker.nanos() + life + Leases.KEPT_NANOS;
          long lease = leases.ledger.add(new OutstandingCharges(List.of(entry), true, end));
          leases.granted.increment();
          leases.lent.add(permits);
          known(i, loan.lent(lease, permits, life));
        });
  }

  /** Remembers the request's charges; returns their number, or 0. */
  private long refundable() {
    List<Entry> entries = new ArrayList<>();
    long longest = 0;
    Charges charges = charged.charges();
    for (int i = 0; passes() && i < charges.size(); i++) {
      if (charges.reason(i) == Reason.WITHIN_LIMIT && charges.permits(i) > 0) {
        entries.add(
            new Entry(
                charges.binding(i),
                charges.fingerprint(i),
                charges.permits(i),
                charges.decision(i)));
        longest = Math.max(longest, charges.resetAfterNanos(i));
      }
    }
    if (entries.isEmpty() || entries.size() > MOST_REFUNDABLE) {
      return 0;
    }
    if (!leases.ledger.reserve(entries.size())) {
      leases.full.increment();
      return 0;
    }
    long end = path.ticker.nanos() + Math.min(longest, Leases.MOST_REFUNDABLE_NANOS);
    return leases.ledger.add(new OutstandingCharges(List.copyOf(entries), false, end));
  }
}
