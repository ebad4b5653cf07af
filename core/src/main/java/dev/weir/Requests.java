package dev.weir;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a limiter, by fingerprints: each charges all policies in force at once in the
 * store and reads the answer. Safe for use by many threads.
 */
final class Requests {
  /*
   * How does a limiter's request reach its store? A limiter has one PolicySet at a time, behind one
   * volatile field; a request reads it once and is decided by it from beginning to end, even if it
   * is replaced meanwhile. The set adds one charge for each policy, the store charges all or none,
   * and the set makes one decision of the results. For a soft or elastic policy, the store counts
   * by Policy.enforced and the set translates.
   *
   * A method that blocks uses its thread's own Charges and clears them afterwards: a LocalStore
   * returns the results at once, for any other store it waits (Wait). The methods that end in
   * Async, and those with a callback, never wait, so each of their requests has Charges of its own,
   * which the store may fill later on another thread.
   *
   * With one policy, waiting is a reservation: the store charges the permits for a later instant,
   * so requests keep their order. With several, their instants differ, so a request is repeated
   * when its permits may fit.
   *
   * The listener gets each request once, when it is final. So each method decides first and reports
   * afterwards (reported), and a repeated request is reported only the last time.
   */

  private static final ThreadLocal<Charges> REQUEST = ThreadLocal.withInitial(Charges::new);

  final Ticker ticker;
  final Fingerprint fingerprint;
  final Store store;

  /** The store, if it answers on the caller's thread, so that no callback is needed; else null. */
  private final @Nullable LocalStore local;

  /** The store, if several quotas of one key may be read at one place in it; else null. */
  private final @Nullable MemoryStore memory;

  private final LoadSignal load;
  private final PolicyNames names;
  private volatile PolicySet set;

  /** The seats of this limiter. */
  final Seats seats;

  /**
   * Creates the requests of a limiter.
   *
   * @param names of the limiter, which has no policies in force yet
   */
  Requests(
      Store store,
      PolicyNames names,
      List<Policy> policies,
      Ticker ticker,
      LoadSignal load,
      long nowNanos) {
    this.store = store;
    this.names = names;
    this.ticker = ticker;
    this.load = load;
    local = store instanceof LocalStore answering ? answering : null;
    memory = store instanceof MemoryStore own ? own : null;
    fingerprint = store.fingerprint();
    Policy[] named = names.named(policies);
    set = PolicySet.bind(store, named, null, nowNanos);
    names.inForce(policies, named);
    seats = new Seats(this);
  }

  PolicySet set() {
    return set;
  }

  @Nullable LocalStore local() {
    return local;
  }

  synchronized void replace(List<Policy> policies) {
    long now = ticker.nanos();
    PolicySet before = set;
    Policy[] named = names.named(policies);
    PolicySet next = PolicySet.bind(store, named, before, now);
    names.inForce(policies, named);
    set = next;
    before.retire(store, next, now);
  }

  synchronized void listen(LimiterListener listener) {
    LimiterListener before = set.listener;
    set = set.hearing(before == null ? listener : before.andThen(listener));
  }

  Decision decide(long fingerprint, long permits) {
    return decideIn(set, fingerprint, permits);
  }

  /** Decides a request by policies that were in force a moment ago. */
  Decision decideIn(PolicySet set, long fingerprint, long permits) {
    return reported(set, decide(set, fingerprint, permits), permits);
  }

  Decision peek(long fingerprint, long permits) {
    return decideCharges(set, fingerprint, permits, true);
  }

  /** Decides a request; the caller reports the decision to the listener. */
  private Decision decide(PolicySet set, long fingerprint, long permits) {
    Binding only = set.only;
    if (only == null || local == null || set.elastic()) {
      return decideSeveral(set, fingerprint, permits);
    }
    Decision decision = local.decision(only, fingerprint, checked(permits), ticker.nanos());
    return set.policy(0).throttled(decision, false);
  }

  private Decision decideSeveral(PolicySet set, long fingerprint, long permits) {
    if (memory != null && set.only == null && !set.elastic()) {
      QuotaResults results =
          memory.decideQuotas(set.bindings(), fingerprint, checked(permits), ticker.nanos());
      if (results != null) {
        return set.decision(results);
      }
    }
    return decideCharges(set, fingerprint, permits, false);
  }

  private Decision decideCharges(PolicySet set, long fingerprint, long permits, boolean peeking) {
    double load = load(set);
    Charges charges = set.addTo(REQUEST.get().clear(), fingerprint, checked(permits), load);
    if (peeking) {
      charges.peek();
    }
    send(charges, ticker.nanos());
    Decision decision = set.decision(charges, load);
    charges.clear(); // Otherwise this thread would keep the limiter from being collected.
    return decision;
  }

  CompletableFuture<Decision> decideAsync(long fingerprint, long permits) {
    PolicySet now = set;
    CompletableFuture<Decision> answer = new CompletableFuture<>();
    decide(now, fingerprint, permits, each -> answer.complete(reported(now, each, permits)));
    return answer;
  }

  /** Decides a request without waiting; the caller reports the decision to the listener. */
  void decide(long fingerprint, long permits, Consumer<Decision> done) {
    decide(set, fingerprint, permits, done);
  }

  /** Decides like {@link #decide(long, long, Consumer)}, by policies in force a moment ago. */
  void decide(PolicySet set, long fingerprint, long permits, Consumer<Decision> done) {
    double load = load(set);
    store.decide(
        set.addTo(new Charges(), fingerprint, checked(permits), load),
        ticker.nanos(),
        charges -> done.accept(set.decision(charges, load)));
  }

  /** Holds permits for a request whose cost is known only afterwards. */
  Hold hold(long fingerprint, long most) {
    return new Hold(this, fingerprint, most, decide(fingerprint, most));
  }

  /** Counts permits whatever is left. */
  Decision charge(long fingerprint, long permits) {
    PolicySet now = set;
    double load = load(now);
    Charges charges = now.addReportsTo(REQUEST.get().clear(), fingerprint, checked(permits), load);
    send(charges, ticker.nanos());
    Decision decision = now.decision(charges, load);
    charges.clear();
    return reported(now, decision, permits);
  }

  CompletableFuture<Decision> chargeAsync(long fingerprint, long permits) {
    PolicySet now = set;
    double load = load(now);
    CompletableFuture<Decision> answer = new CompletableFuture<>();
    store.decide(
        now.addReportsTo(new Charges(), fingerprint, checked(permits), load),
        ticker.nanos(),
        charges -> answer.complete(reported(now, now.decision(charges, load), permits)));
    return answer;
  }

  /** Counts permits like {@link #charge}; allocates nothing if the store answers on this thread. */
  long packedCharge(long fingerprint, long permits, long now) {
    PolicySet set = this.set;
    Charges charges = REQUEST.get().clear();
    return packed(set, set.addReportsTo(charges, fingerprint, checked(permits), load(set)), now);
  }

  /** Returns how many of the permits were admitted: all, or as many as fit. */
  long decideUpTo(long fingerprint, long permits) {
    PolicySet now = set;
    Decision decision = null;
    // Permits that did not fit are not tried again, so this ends even if others request the key
    // meanwhile.
    for (long wanted = checked(permits); wanted > 0; ) {
      decision = decide(now, fingerprint, wanted);
      if (decision.allowed()) {
        reported(now, decision, wanted);
        return wanted;
      }
      wanted = Math.min(wanted - 1, decision.remaining());
    }
    if (decision != null) {
      reported(now, decision, permits);
    }
    return 0;
  }

  /** Decides like {@link #decide}, but allocates nothing if the store answers on this thread. */
  long packed(long fingerprint, long permits, long now) {
    PolicySet set = this.set;
    Binding only = set.only;
    if (only == null || local == null) {
      return packedByCharges(set, fingerprint, permits, now);
    }
    long packed = local.decide(only, fingerprint, permits, now);
    if (only.policy() != set.policy(0)) {
      packed = throttled(set, packed);
    }
    if (set.listener != null) {
      String policy = set.policy(0).name();
      report(set, policy, packed >= 0, PackedDecision.reason(packed), permits);
    }
    return packed;
  }

  private long packedByCharges(PolicySet set, long fingerprint, long permits, long now) {
    if (memory != null && set.only == null && set.listener == null && !set.elastic()) {
      QuotaResults results =
          memory.decideQuotas(set.bindings(), fingerprint, checked(permits), now);
      if (results != null) {
        return set.packed(results);
      }
    }
    Charges charges = REQUEST.get().clear();
    return packed(set, set.addTo(charges, fingerprint, checked(permits), load(set)), now);
  }

  /** Decides charges of this thread, and clears them. */
  private long packed(PolicySet set, Charges charges, long now) {
    long permits = charges.permits(0);
    send(charges, now);
    long packed = set.packed(charges);
    String policy = set.listener == null ? "" : set.speaker(charges);
    charges.clear();
    if (set.listener != null) {
      report(set, policy, packed >= 0, PackedDecision.reason(packed), permits);
    }
    return packed;
  }

  /** Decides a batch for the only policy of a set. */
  void packed(PolicySet set, Batch batch, long[] decisions, int from) {
    if (local != null) {
      local.decide(batch, ticker.nanos());
    } else {
      Wait<Batch> answer = new Wait<>();
      store.decide(batch, ticker.nanos(), answer);
      answer.join();
    }
    boolean throttled = set.binding(0).policy() != set.policy(0);
    for (int i = 0; i < batch.size(); i++) {
      long packed = batch.decision(i);
      decisions[from + i] = throttled ? throttled(set, packed) : packed;
      if (set.listener != null) {
        long decided = decisions[from + i];
        String policy = set.policy(0).name();
        report(set, policy, decided >= 0, PackedDecision.reason(decided), batch.permits(i));
      }
    }
  }

  private long throttled(PolicySet set, long packed) {
    return packed >= 0 ? set.own(0, packed) : set.spare(load(set)) ? 0 : packed;
  }

  /**
   * Charges permits for the instant at which they fit.
   *
   * @throws IllegalStateException if there are several policies
   */
  Reservation reserve(long fingerprint, long permits, long maxWaitNanos) {
    PolicySet now = set;
    Reservation reservation = reserve(now, fingerprint, permits, maxWaitNanos);
    reported(now, reservation.decision(), permits);
    return reservation;
  }

  private Reservation reserve(PolicySet set, long fingerprint, long permits, long maxWaitNanos) {
    boolean spare = set.spare(load(set));
    Charges charges =
        waiting(set, REQUEST.get().clear(), fingerprint, permits, maxWaitNanos, spare);
    long now = ticker.nanos();
    send(charges, now);
    Reservation reservation = reservation(set, charges, fingerprint, permits, spare, now);
    charges.clear();
    return reservation;
  }

  /**
   * Charges permits like {@link #reserve}, but without waiting for the store: {@code done} receives
   * the reservation.
   */
  void reserve(long fingerprint, long permits, long maxWaitNanos, Consumer<Reservation> done) {
    PolicySet set = this.set;
    boolean spare = set.spare(load(set));
    long now = ticker.nanos();
    store.decide(
        waiting(set, new Charges(), fingerprint, permits, maxWaitNanos, spare),
        now,
        charges -> {
          Reservation made = reservation(set, charges, fingerprint, permits, spare, now);
          reported(set, made.decision(), permits);
          done.accept(made);
        });
  }

  private static Charges waiting(
      PolicySet set,
      Charges charges,
      long fingerprint,
      long permits,
      long maxWaitNanos,
      boolean spare) {
    if (set.only == null) {
      throw new IllegalStateException(
          "policies: " + set.size() + " (expected: 1, only one can be reserved; acquire can wait)");
    }
    // No request waits while there is spare capacity.
    return charges.add(set.only, fingerprint, checked(permits)).maxWait(spare ? 0 : maxWaitNanos);
  }

  private Reservation reservation(
      PolicySet set, Charges charges, long fingerprint, long permits, boolean spare, long now) {
    boolean waits = charges.allowed() && charges.retryAfterNanos(0) > 0;
    // Another store may have its own clock; how long to wait is the same on every clock.
    long due =
        !waits
            ? now
            : local != null ? charges.atNanos(0) : ticker.nanos() + charges.retryAfterNanos(0);
    Decision decision = set.policy(0).throttled(charges.decision(0), spare);
    return new Reservation(this, fingerprint, permits, decision, due);
  }

  /** Waits for permits; with several policies the request is repeated whenever they may fit. */
  Decision acquire(long fingerprint, long permits, long timeoutNanos) throws InterruptedException {
    PolicySet now = set;
    if (now.size() == 1) {
      Reservation reservation = reserve(now, fingerprint, permits, timeoutNanos);
      reported(now, reservation.decision(), permits);
      if (reservation.granted()) {
        reservation.await();
      }
      return reservation.decision();
    }
    long start = ticker.nanos();
    while (true) {
      Decision decision = decide(now, fingerprint, permits);
      long left = timeoutNanos - Math.max(0, ticker.nanos() - start);
      if (!waits(decision, left)) {
        return reported(now, decision, permits);
      }
      ticker.sleep(decision.retryAfterNanos());
      now = set;
    }
  }

  /** Returns whether the same request may pass within {@code leftNanos}. */
  static boolean waits(Decision decision, long leftNanos) {
    return !decision.allowed()
        && decision.reason() == Reason.OVER_LIMIT
        && decision.retryAfterNanos() <= leftNanos;
  }

  /** Reports a decision to the listener. */
  Decision reported(Decision decision, long permits) {
    return reported(set, decision, permits);
  }

  long refund(long fingerprint, long permits, Decision admission) {
    checked(permits);
    long least = Long.MAX_VALUE;
    for (PolicySet.ChargedPolicy each : set.charged(Check.notNull("charged", admission))) {
      least = Math.min(least, refund(each, fingerprint, permits));
    }
    return least == Long.MAX_VALUE ? 0 : least;
  }

  private long refund(PolicySet.ChargedPolicy charged, long fingerprint, long permits) {
    long now = ticker.nanos();
    if (local != null) {
      return local.refund(charged.binding(), fingerprint, permits, charged.decision(), now);
    }
    Wait<Long> given = new Wait<>();
    store.refund(charged.binding(), fingerprint, permits, charged.decision(), now, given::accept);
    return given.join();
  }

  /** Gives permits back like {@link #refund}, but without waiting for the store. */
  void refundAsync(long fingerprint, long permits, Decision admission) {
    for (PolicySet.ChargedPolicy each : set.charged(admission)) {
      store.refund(
          each.binding(), fingerprint, permits, each.decision(), ticker.nanos(), given -> {});
    }
  }

  boolean reset(long fingerprint) {
    boolean any = false;
    PolicySet now = set;
    for (int i = 0; i < now.size(); i++) {
      any |= reset(now.binding(i), fingerprint);
    }
    return any;
  }

  private boolean reset(Binding binding, long fingerprint) {
    if (local != null) {
      return local.reset(binding, fingerprint, ticker.nanos());
    }
    Wait<Boolean> known = new Wait<>();
    store.reset(binding, fingerprint, ticker.nanos(), known);
    return known.join();
  }

  static long checked(long permits) {
    return Check.range("permits", permits, 0, Long.MAX_VALUE);
  }

  private void send(Charges charges, long now) {
    if (local != null) {
      local.decide(charges, now);
    } else {
      Wait<Charges> answer = new Wait<>();
      store.decide(charges, now, answer);
      answer.join();
    }
  }

  /** Returns the load if a policy depends on it; NaN if the signal throws. */
  private double load(PolicySet set) {
    if (!set.elastic()) {
      return Double.NaN;
    }
    try {
      return load.load();
    } catch (RuntimeException e) {
      return Double.NaN;
    }
  }

  private static Decision reported(PolicySet set, Decision decision, long permits) {
    if (set.listener != null) {
      report(set, decision.policy(), decision.allowed(), decision.reason(), permits);
    }
    return decision;
  }

  private static void report(
      PolicySet set, String policy, boolean allowed, Reason reason, long permits) {
    LimiterListener listener = set.listener;
    if (listener == null) {
      return;
    }
    try {
      listener.onDecision(policy, allowed, reason, permits);
    } catch (RuntimeException e) {
      // The permits are charged already, so the caller must get the answer.
    }
  }

  /** The answer of a store. It always arrives. */
  private static final class Wait<T> extends CompletableFuture<T> implements Consumer<T> {
    @Override
    public void accept(T answer) {
      complete(answer);
    }
  }
}
