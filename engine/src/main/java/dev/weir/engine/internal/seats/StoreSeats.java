package dev.weir.engine.internal.seats;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Renewal;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.internal.matching.PendingRequest;
import dev.weir.engine.seats.SeatOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The seats of one request where they are counted. Filled by one thread, and then safe for use by
 * many.
 */
public final class StoreSeats {
  /*
   * Why are the others given back when one seat is lost? A request takes all of its seats or none,
   * and its holder ends when one is lost: what is left must not count until its own end.
   */

  /** One seat. */
  private record StoreSeat(Binding binding, long fingerprint, long permits, Decision decision) {}

  private final Store store;
  private final Ticker ticker;
  private final List<StoreSeat> seats = new ArrayList<>(1);

  /** True if a seat is not found by the rules in force. */
  private boolean missing;

  public StoreSeats(Store store, Ticker ticker) {
    this.store = store;
    this.ticker = ticker;
  }

  /**
   * Adds the seat of descriptor {@code i}.
   *
   * @param decision the one that took it; null if it cannot be found any more
   */
  public void add(PendingRequest matched, int i, @Nullable Decision decision) {
    CurrentLimit limit = matched.limit(i);
    int charge = decision == null ? -1 : matched.charge(i);
    if (decision == null || limit == null || charge < 0) {
      missing = true;
      return;
    }
    Charges charges = matched.charges();
    seats.add(
        new StoreSeat(
            charges.binding(charge),
            charges.fingerprint(charge),
            charges.permits(charge),
            limit.policy().unthrottled(decision)));
  }

  public boolean isEmpty() {
    return seats.isEmpty() && !missing;
  }

  /** Returns the least hold of all, in nanoseconds; 0 if there are none. */
  public long holdNanos() {
    return seats.stream()
        .mapToLong(seat -> seat.binding.policy().quota().windowNanos())
        .min()
        .orElse(0);
  }

  public void renew(Consumer<? super SeatOutcome> done) {
    if (missing) {
      release(given -> done.accept(SeatOutcome.LOST));
      return;
    }
    all(
        this::renew,
        outcome -> {
          if (outcome == SeatOutcome.LOST) {
            release(given -> done.accept(SeatOutcome.LOST));
          } else {
            done.accept(outcome);
          }
        });
  }

  private static SeatOutcome outcome(Renewal renewal) {
    return switch (renewal) {
      case RENEWED -> SeatOutcome.DONE;
      case LOST -> SeatOutcome.LOST;
      case UNANSWERED -> SeatOutcome.UNCERTAIN;
    };
  }

  public void release(Consumer<? super SeatOutcome> done) {
    all(
        (seat, each) -> release(seat, true, each),
        outcome -> done.accept(missing ? SeatOutcome.LOST : outcome));
  }

  /**
   * Gives one seat back. A store does not say why it gave nothing back: a renewal shows whether the
   * seat is lost, or the store has not answered.
   */
  private void release(StoreSeat seat, boolean again, Consumer<SeatOutcome> done) {
    store.refund(
        seat.binding,
        seat.fingerprint,
        seat.permits,
        seat.decision,
        ticker.nanos(),
        given -> {
          if (given > 0) {
            done.accept(SeatOutcome.DONE);
          } else if (again) {
            renew(
                seat,
                outcome -> {
                  if (outcome == SeatOutcome.DONE) {
                    release(seat, false, done);
                  } else {
                    done.accept(outcome);
                  }
                });
          } else {
            done.accept(SeatOutcome.UNCERTAIN);
          }
        });
  }

  private void renew(StoreSeat seat, Consumer<SeatOutcome> done) {
    store.renew(
        seat.binding,
        seat.fingerprint,
        seat.decision,
        ticker.nanos(),
        renewal -> done.accept(outcome(renewal)));
  }

  /** A call of the store about one seat. */
  private interface SeatCall {
    void send(StoreSeat seat, Consumer<SeatOutcome> done);
  }

  /** Makes a call for each seat, and passes on the worst outcome: lost, uncertain, done. */
  private void all(SeatCall call, Consumer<SeatOutcome> done) {
    AtomicInteger left = new AtomicInteger(1 + seats.size());
    AtomicReference<SeatOutcome> worst = new AtomicReference<>(SeatOutcome.DONE);
    Consumer<SeatOutcome> each =
        outcome -> {
          worst.accumulateAndGet(outcome, StoreSeats::worse);
          if (left.decrementAndGet() == 0) {
            done.accept(worst.get());
          }
        };
    for (StoreSeat seat : seats) {
      call.send(seat, each);
    }
    each.accept(SeatOutcome.DONE);
  }

  private static SeatOutcome worse(SeatOutcome a, SeatOutcome b) {
    if (a == SeatOutcome.LOST || b == SeatOutcome.LOST) {
      return SeatOutcome.LOST;
    }
    return a == SeatOutcome.UNCERTAIN ? a : b;
  }
}
