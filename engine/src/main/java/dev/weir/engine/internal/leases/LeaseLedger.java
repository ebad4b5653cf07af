package dev.weir.engine.internal.leases;

import dev.weir.Binding;
import dev.weir.Decision;
import java.security.SecureRandom;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The charges that may be given back, by number: leases of clients, and requests that may be
 * refunded. Bounded, and each number is good once. Safe for use by many threads.
 */
public class LeaseLedger {
  /*
   * Why does the service remember charges, instead of handing out signed tickets? A ticket could be
   * returned twice, and each return would make permits out of nothing. Numbers are random and not
   * counted, because a client that guessed another's could return what the other still spends.
   *
   * A place is taken before anything is charged for it, so the bound holds however many threads
   * lend at once, and everything charged can be returned.
   */

  /** One charge of a key. */
  public record Entry(Binding binding, long fingerprint, long permits, Decision charged) {}

  /**
   * The charges remembered under one number.
   *
   * @param lease true if the permits may still be spent; otherwise they were, by a request
   * @param endNanos the instant at which they are forgotten
   */
  public record OutstandingCharges(List<Entry> entries, boolean lease, long endNanos) {
    public long permits() {
      return entries.stream().mapToLong(Entry::permits).sum();
    }
  }

  private static final int NUMBERS_AT_ONCE = 256;

  private final int max;
  private final AtomicLong places = new AtomicLong();
  private final ConcurrentHashMap<Long, OutstandingCharges> outstanding = new ConcurrentHashMap<>();
  private final SecureRandom random = new SecureRandom();
  private final byte[] numbers = new byte[NUMBERS_AT_ONCE * Long.BYTES];
  private int used = numbers.length;

  /**
   * Creates an empty ledger.
   *
   * @param max the most charges that may be remembered
   */
  public LeaseLedger(int max) {
    this.max = max;
  }

  /** Takes places for some charges; returns whether there were enough. */
  public boolean reserve(int charges) {
    for (long taken = places.get(); taken + charges <= max; taken = places.get()) {
      if (places.compareAndSet(taken, taken + charges)) {
        return true;
      }
    }
    return false;
  }

  /** Gives places back that were not used. */
  public void release(int charges) {
    places.addAndGet(-charges);
  }

  /** Remembers charges for which places were taken; returns their number, never 0. */
  public long add(OutstandingCharges charged) {
    long number;
    do {
      number = number();
    } while (number == 0 || outstanding.putIfAbsent(number, charged) != null);
    return number;
  }

  /** Returns the charges remembered under a number, and forgets them; null if there are none. */
  @Nullable
  public OutstandingCharges take(long number, boolean lease) {
    OutstandingCharges known = outstanding.get(number);
    if (known == null || known.lease() != lease || !outstanding.remove(number, known)) {
      return null;
    }
    release(known.entries().size());
    return known;
  }

  /** Forgets charges whose time is over; returns how many permits of leases were forgotten. */
  public long expire(long nowNanos) {
    long permits = 0;
    Iterator<Long> each = outstanding.keySet().iterator();
    while (each.hasNext()) {
      Long number = each.next();
      OutstandingCharges known = outstanding.get(number);
      if (known != null && nowNanos - known.endNanos() >= 0 && outstanding.remove(number, known)) {
        release(known.entries().size());
        permits += known.lease() ? known.permits() : 0;
      }
    }
    return permits;
  }

  public long size() {
    return places.get();
  }

  public int max() {
    return max;
  }

  private synchronized long number() {
    if (used == numbers.length) {
      random.nextBytes(numbers);
      used = 0;
    }
    long number = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      number = number << Byte.SIZE | (numbers[used] & 0xff);
      numbers[used++] = 0;
    }
    return number;
  }
}
