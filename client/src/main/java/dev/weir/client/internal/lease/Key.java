package dev.weir.client.internal.lease;

import dev.weir.client.internal.wire.Answers;
import dev.weir.client.internal.wire.Endings;
import dev.weir.client.internal.wire.Service;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.protocol.v1.WeirProto.DescriptorLease;
import dev.weir.shared.Clocks;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The state of one key in the client, without the key's texts: its lease, its last denial and its
 * requests in flight. Safe for use by many threads.
 */
public final class Key {
  /** The first of the two fingerprints that identify the key. */
  public final long hash;

  public final long check;

  /** The next in the same bucket of {@link Keys}. */
  volatile @Nullable Key next;

  final Flight flight;

  private volatile @Nullable Lease lease;
  private volatile @Nullable Denial denial;
  private volatile @Nullable LastAnswer told;

  /** True while a request for advance permits is in flight: there is one at a time. */
  private boolean asking;

  private long ahead;

  Key(long hash, long check, Flight.Desk desk) {
    this.hash = hash;
    this.check = check;
    flight = new Flight(this, desk);
  }

  /**
   * Decides a request with this descriptor alone, or returns null if the service must decide it.
   */
  @Nullable Answer local(long permits, Clocks clocks, Counters counters) {
    Lease held = spend(permits, clocks);
    if (held != null) {
      counters.admittedLocally.increment();
      return held.answer();
    }
    Denial known = denial(permits, clocks);
    if (known != null) {
      counters.refusedLocally.increment();
      return known.answer(clocks);
    }
    return null;
  }

  /** Takes permits from the lease; returns the lease, or null if it has too few. */
  @Nullable Lease spend(long permits, Clocks clocks) {
    Lease held = lease;
    return held != null && held.spend(permits, clocks) ? held : null;
  }

  /** Returns the denial that holds for this number of permits, or null. */
  @Nullable Denial denial(long permits, Clocks clocks) {
    Denial known = denial;
    return known != null && known.refuses(permits, clocks) ? known : null;
  }

  @Nullable LastAnswer lastAnswer() {
    return told;
  }

  /** Removes the denial, because permits come back to the key. */
  void forgetDenial() {
    denial = null;
  }

  /** Gives a refunded permit back to its lease, if the lease has not ended. */
  @SuppressWarnings("ReferenceEquality") // Another lease may have an equal status.
  boolean takeBack(Status status, long permits, Clocks clocks) {
    Lease held = lease;
    if (held == null || held.status() != status || held.over(clocks) || !held.put(permits)) {
      return false;
    }
    denial = null;
    return true;
  }

  /**
   * Returns the number of permits to request in advance. If it is above 0, no other lease request
   * for this key requests any until {@link #answered} is called.
   */
  synchronized long plan(Clocks clocks) {
    LastAnswer known = told;
    if (asking || (known != null && !known.leased())) {
      return 0;
    }
    asking = true;
    Lease before = lease;
    if (before == null) {
      ahead = AdvanceSize.next(ahead, 0, 0, 0, 0);
    } else {
      long left = before.unspent();
      long life = before.lifeNanos();
      long age = Lease.usableNanos(life) - clocks.until(before.ends());
      ahead = AdvanceSize.next(ahead, before.lent() - left, left, age, life);
    }
    return ahead;
  }

  /** Records that the lease request has been answered, or has failed. */
  synchronized void answered() {
    asking = false;
  }

  /** Records the service's answer about this key. */
  void learn(
      DescriptorLease said,
      Status status,
      LastAnswer now,
      Service by,
      long revision,
      Clocks.Instant sentAt,
      Flight.Desk desk) {
    told = now;
    if (said.getRefuseForMs() > 0) {
      long refuse = TimeUnit.MILLISECONDS.toNanos(said.getRefuseForMs());
      long permits = Math.max(1, said.getRefusePermits());
      denial = new Denial(by, revision, permits, sentAt, refuse, status);
    } else if (status.allowed()) {
      denial = null;
    }
    if (said.getLease() == 0) {
      return;
    }
    desk.counters().leases.increment();
    desk.counters().lent.add(said.getPermits());
    Lease lent =
        new Lease(
            said.getLease(),
            by,
            said.getPermits(),
            sentAt,
            TimeUnit.MICROSECONDS.toNanos(said.getLifeUs()),
            Answers.leased(status, revision));
    if (lent.over(desk.clocks())) {
      by.giveBack(lent.id(), lent.close()); // The lease ended before the answer arrived.
      return;
    }
    Lease before;
    synchronized (this) {
      before = lease;
      lease = lent;
    }
    if (before != null) {
      before.lender().giveBack(before.id(), before.close());
      desk.endings().remove(this, before);
    }
    desk.endings().add(this, lent);
  }

  /** Gives back the rest of a lease that has ended, or is to end now. */
  public void end(Lease ended) {
    long left = ended.close();
    if (left == Lease.CLOSED) {
      return;
    }
    if (left > 0) {
      denial = null;
    }
    ended.lender().giveBack(ended.id(), left);
  }

  /** Ends the lease, if there is one, because the key is removed. */
  void forget(Endings endings) {
    Lease held = lease;
    if (held != null) {
      end(held);
      endings.remove(this, held);
    }
  }

  /**
   * Returns whether the key can be removed without the loss of charged permits.
   *
   * @param denials whether a denial that still holds may be removed too
   */
  boolean idle(Clocks clocks, boolean denials) {
    Lease held = lease;
    Denial known = denial;
    boolean refuses = known != null && !known.over(clocks);
    return (held == null || held.empty()) && (denials || !refuses) && flight.idle();
  }
}
