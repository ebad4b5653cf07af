package dev.weir.shared;

import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.Reason;
import dev.weir.Renewal;
import dev.weir.Ticker;
import dev.weir.shared.internal.CrossSlots;
import dev.weir.shared.internal.DecideMany;
import dev.weir.shared.internal.DecideOne;
import dev.weir.shared.internal.FailureDecisions;
import dev.weir.shared.internal.LocalAuthority;
import dev.weir.shared.internal.MovedOperations;
import dev.weir.shared.internal.Operation;
import dev.weir.shared.internal.Refund;
import dev.weir.shared.internal.Reset;
import dev.weir.shared.internal.SeatRenewal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The decisions and refunds of a shared store: from permits that this process holds, or else by
 * calls to the store, and by failure modes while the store does not answer. All bindings are the
 * store's. Safe for use by many threads.
 */
public final class SharedDecider {
  /*
   * Where is a request decided? If its binding has an authority in this process (an allotment of
   * permits, or counts that are sent later), there, and without a call. Otherwise it becomes an
   * operation of the next call to the store. If the store does not answer, the policy's failure
   * mode decides, and marks its decisions: what they charged is given back, or renewed, in this
   * process, and everything else in the store.
   *
   * Why are seats not merged with others of their key? Requests for permits are, and the store
   * answers how many of them fit. But a seat is known by the instant at which it was taken, so each
   * needs an answer of its own; and a refusal of one is not remembered, since it may come back.
   */

  /**
   * The most permits that are sent: no limit is higher, and multiples of it are still exact in
   * doubles.
   */
  private static final long MOST_PERMITS = 1L << 33;

  private final Link link;
  private final Counters counters;
  private final FailureDecisions failureDecisions;
  private final boolean callersClock;
  private final MovedOperations moved;

  /** The operations that a thread collects to send them together; null if it sends each at once. */
  private final ThreadLocal<@Nullable List<Operation>> together =
      ThreadLocal.withInitial(() -> null);

  /**
   * @param settings the store's
   */
  SharedDecider(Link link, StoreSettings settings, FailureDecisions failureDecisions) {
    this.link = link;
    this.counters = settings.counters();
    this.failureDecisions = failureDecisions;
    this.callersClock = settings.callersClock();
    moved =
        new MovedOperations(link, counters, settings.clocks().monotonic(), settings.timeoutNanos());
  }

  /** Sends operations again that wait until their keys are elsewhere; to be called often. */
  void tick() {
    moved.tick();
  }

  /** Returns whether no operation waits until its keys are elsewhere. */
  boolean idle() {
    return moved.idle();
  }

  /** Fails operations that wait until their keys are elsewhere. */
  void close() {
    moved.close();
  }

  void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    if (charges.size() == 0) {
      charges.settle();
      done.accept(charges);
    } else if (charges.lending()) {
      lend(charges, nowNanos, done);
    } else if (charges.size() == 1
        && !charges.queued()
        && !charges.peeking()
        && !charges.anyReports()
        && charges.permits(0) >= 0) {
      one(
          charges.binding(0),
          charges.fingerprint(0),
          charges.permits(0),
          nowNanos,
          result -> {
            result.to(charges, 0);
            charges.settle();
            done.accept(charges);
          });
    } else if (link.oneSlot() || CrossSlots.inOne(charges, link)) {
      inOneStep(charges, nowNanos, 0, done);
    } else {
      CrossSlots.decide(charges, nowNanos, 0, this, done);
    }
  }

  /** Charges permits of a lease in the store; refuses them if it cannot be called. */
  private void lend(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    if (charges.size() != 1) {
      throw new IllegalArgumentException(
          "charges: " + charges.size() + " (expected: 1, lent permits are charged alone)");
    }
    Consumer<Result> decided =
        result -> {
          result.to(charges, 0);
          charges.settle();
          done.accept(charges);
        };
    DecideOne.Callback callback =
        callback(decided, failure -> decided.accept(Result.failed(failure, 0, nowNanos)));
    SharedBinding own = (SharedBinding) charges.binding(0);
    long wanted = Math.min(charges.permits(0), MOST_PERMITS);
    send(new DecideOne(own, charges.fingerprint(0), wanted, 1, callback), nowNanos);
  }

  /**
   * Decides charges whose keys are in one slot.
   *
   * @param waitedNanos the time that the request has already waited for the store
   */
  public void inOneStep(
      Charges charges, long nowNanos, long waitedNanos, Consumer<? super Charges> done) {
    Consumer<Failure> failed =
        failure -> {
          failureDecisions.decide(charges, failure, nowNanos);
          done.accept(charges);
        };
    Runnable answered =
        () -> {
          for (int i = 0; i < charges.size() && charges.allowed() && !charges.peeking(); i++) {
            SharedBinding binding = (SharedBinding) charges.binding(i);
            binding.variants.forgetRefusal(charges.fingerprint(i)); // The key was charged.
          }
          done.accept(charges);
        };
    DecideMany operation =
        new DecideMany(
            charges,
            answered,
            failed,
            waited -> CrossSlots.decide(charges, nowNanos, waited, this, done));
    operation.waitedNanos = waitedNanos;
    send(operation, nowNanos);
  }

  void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    AtomicInteger missing = new AtomicInteger(batch.size() + 1);
    together(() -> send(batch, nowNanos, missing, done));
    if (missing.decrementAndGet() == 0) {
      done.accept(batch);
    }
  }

  /**
   * Sends the operations that this thread makes in {@code asks} together, at the end of it. Within
   * another such call they are sent at the end of that. Other threads are held up only if they need
   * a permit of a leased rule that is requested here.
   */
  void together(Runnable asks) {
    if (together.get() != null) {
      asks.run();
      return;
    }
    List<Operation> asked = new ArrayList<>();
    together.set(asked);
    try {
      asks.run();
    } finally {
      together.set(null);
      sendAll(asked);
    }
  }

  /** Sends operations, and makes callers wait until all of them are queued. */
  private void sendAll(List<Operation> asked) {
    List<Caller> held = new ArrayList<>(1);
    try {
      Operation.deliverAll(
          asked,
          operation -> {
            Caller caller = link.caller(operation.binding(), operation.fingerprint());
            if (caller != null && !held.contains(caller) && caller.hold()) {
              held.add(caller);
            }
            send(operation, caller);
          });
    } finally {
      Operation.deliverAll(held, Caller::release);
    }
  }

  private void send(
      Batch batch, long nowNanos, AtomicInteger missing, Consumer<? super Batch> done) {
    for (int i = 0; i < batch.size(); i++) {
      int index = i;
      Binding binding = batch.binding(i);
      one(
          binding,
          batch.fingerprint(i),
          batch.permits(i),
          nowNanos,
          result -> {
            batch.result(
                index,
                result.reason(),
                result.remaining(),
                result.retryAfterNanos(),
                result.resetAfterNanos(),
                result.atNanos());
            batch.cause(index, result.cause());
            boolean forgiven =
                result.reason() != Reason.WITHIN_LIMIT
                    && result.reason() != Reason.OVER_LIMIT
                    && binding.policy().sharing().onFailure() == FailureMode.ALLOW;
            if (forgiven) {
              batch.decision(index, 0);
            }
            if (missing.decrementAndGet() == 0) {
              done.accept(batch);
            }
          });
    }
  }

  /** Decides one charge on its own. */
  private void one(
      Binding binding, long fingerprint, long permits, long nowNanos, Consumer<Result> done) {
    SharedBinding own = (SharedBinding) binding;
    DecideOne.Callback callback =
        callback(
            done,
            failure -> failureDecisions.decide(own, fingerprint, permits, failure, nowNanos, done));
    long wanted = Math.min(permits, MOST_PERMITS);
    LocalAuthority authority = own.authority();
    if (authority == null) {
      send(new DecideOne(own, fingerprint, wanted, 1, callback), nowNanos);
    } else {
      authority.decide(own, fingerprint, wanted, callback);
    }
  }

  private static DecideOne.Callback callback(Consumer<Result> decided, Consumer<Failure> failed) {
    return new DecideOne.Callback() {
      @Override
      public void decided(long times, Result result, long remaining) {
        decided.accept(result);
      }

      @Override
      public void failed(Failure failure) {
        failed.accept(failure);
      }
    };
  }

  /** Sends an operation to the shard of its key, at once or together with others. */
  void send(Operation operation, long nowNanos) {
    if (callersClock) {
      long now = Math.max(-Ticker.HORIZON_NANOS, Math.min(Ticker.HORIZON_NANOS, nowNanos));
      operation.nowNanos = now - Math.floorMod(now, Result.NANOS_PER_MICRO);
    }
    operation.elsewhere = moved;
    List<Operation> waiting = together.get();
    if (waiting == null) {
      send(operation, link.caller(operation.binding(), operation.fingerprint()));
    } else {
      waiting.add(operation);
    }
  }

  private void send(Operation operation, @Nullable Caller caller) {
    boolean countable = link.countsSeats() || !operation.anySeats();
    if (caller == null || !countable) {
      Failure failure = countable ? link.withoutCaller() : Failure.STATE;
      counters.failed(failure, operation.charges());
      operation.fail(failure);
    } else {
      caller.send(operation);
    }
  }

  /** Resets a key in the store, and in this process. */
  void reset(
      SharedBinding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done) {
    binding.variants.reset(fingerprint);
    boolean here = failureDecisions.reset(binding, fingerprint, nowNanos);
    Consumer<Boolean> after =
        there -> {
          binding.variants.reset(fingerprint); // An answer in between may be older.
          done.accept(here || there);
        };
    send(new Reset(binding, fingerprint, after), nowNanos);
  }

  /** Renews a seat in the place where it was taken: in this process, or in the store. */
  void renew(
      SharedBinding binding,
      long fingerprint,
      Decision charged,
      long nowNanos,
      Consumer<? super Renewal> done) {
    if (charged.reason() != Reason.WITHIN_LIMIT) {
      done.accept(Renewal.LOST);
    } else if (FailureDecisions.decided(binding, charged)) {
      done.accept(failureDecisions.renew(binding, fingerprint, charged, nowNanos));
    } else {
      send(new SeatRenewal(binding, fingerprint, charged.atNanos(), done), nowNanos);
    }
  }

  /** Gives permits back in the place where they were charged: in this process, or in the store. */
  public void refund(
      SharedBinding binding,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    boolean samePrice =
        !binding.policy().algorithm().bucket() || charged.limit() == binding.policy().burst();
    if (charged.reason() != Reason.WITHIN_LIMIT || !samePrice) {
      done.accept(0);
      return;
    }
    if (FailureDecisions.decided(binding, charged)) {
      failureDecisions.refund(binding, fingerprint, permits, charged, nowNanos, done);
      return;
    }
    long at = charged.atNanos();
    binding.variants.forgetRefusal(fingerprint);
    LocalAuthority authority = binding.authority();
    long here =
        authority == null ? LocalAuthority.NOT_HERE : authority.refund(fingerprint, permits, at);
    if (here != LocalAuthority.NOT_HERE) {
      done.accept(here);
      return;
    }
    long most = Math.min(permits, MOST_PERMITS);
    long reset = at + charged.resetAfterNanos();
    LongConsumer after =
        given -> {
          // A refusal that came meanwhile may be older than the refund.
          binding.variants.forgetRefusal(fingerprint);
          done.accept(given);
        };
    send(new Refund(binding, fingerprint, most, at, reset, after), nowNanos);
  }
}
