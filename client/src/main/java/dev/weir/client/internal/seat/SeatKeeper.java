package dev.weir.client.internal.seat;

import dev.weir.Ticker;
import dev.weir.engine.seats.SeatOutcome;
import dev.weir.shared.Clocks;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The seats that a client holds: renews them in the background, many in one call. Safe for use by
 * many threads.
 */
public final class SeatKeeper implements AutoCloseable {
  /*
   * When is a seat renewed? A third of its hold after it was taken or renewed, or up to a sixth
   * earlier, if others are renewed then: so a client with many seats makes few calls. A renewal
   * that is not answered is made again after a sixth. Nothing here decides how long a seat is held:
   * the seat itself counts that, from before the call.
   *
   * How many seats are there at most? As many as the services give out to this client. A seat
   * leaves when it is given back or lost, and also when its end has passed without an answer.
   */

  /** The most seats of one call, as the service takes them. */
  private static final int MOST_SEATS = 1_000;

  /** The longest wait for the last seats to be given back, in milliseconds. */
  private static final long CLOSE_MILLIS = 500;

  private final Clocks clocks;
  private final Function<List<String>, CompletionStage<List<SeatOutcome>>> renewals;
  private final Function<List<String>, CompletionStage<List<SeatOutcome>>> returns;
  private final Set<KeptSeat> seats = new HashSet<>();
  private Ticker.@Nullable ScheduledTask next;
  private long nextNanos;
  private boolean closed;

  /**
   * Creates a keeper.
   *
   * @param renewals renews seats
   * @param returns gives seats back
   */
  public SeatKeeper(
      Clocks clocks,
      Function<List<String>, CompletionStage<List<SeatOutcome>>> renewals,
      Function<List<String>, CompletionStage<List<SeatOutcome>>> returns) {
    this.clocks = clocks;
    this.renewals = renewals;
    this.returns = returns;
  }

  Clocks clocks() {
    return clocks;
  }

  /** Begins to renew a seat. */
  void keep(KeptSeat seat) {
    synchronized (seats) {
      if (!closed) {
        seats.add(seat);
        if (next == null || seat.dueNanos() < nextNanos) { // Otherwise all need not be looked at.
          schedule();
        }
        return;
      }
    }
    CompletableFuture<Boolean> unused = seat.release();
  }

  /** Gives a seat back. */
  CompletionStage<SeatOutcome> giveBack(KeptSeat seat) {
    forget(seat);
    return returns.apply(List.of(seat.text())).thenApply(outcomes -> outcomes.get(0));
  }

  /** Renews a seat no more. */
  void forget(KeptSeat seat) {
    synchronized (seats) {
      seats.remove(seat);
    }
  }

  /** Schedules the next renewal. The lock is held. */
  private void schedule() {
    long first = Long.MAX_VALUE;
    for (KeptSeat seat : seats) {
      first = Math.min(first, seat.dueNanos());
    }
    if (next != null && nextNanos == first) {
      return;
    }
    if (next != null) {
      next.cancel();
      next = null;
    }
    if (first == Long.MAX_VALUE) {
      return;
    }
    nextNanos = first;
    long wait = Math.max(0, first - clocks.nanos());
    next = clocks.monotonic().schedule(wait, this::renewDue);
  }

  private void renewDue() {
    List<KeptSeat> due = new ArrayList<>();
    long now = clocks.nanos();
    synchronized (seats) {
      next = null;
      if (closed) {
        return;
      }
      for (KeptSeat seat : seats) {
        if (due.size() < MOST_SEATS && seat.dueNanos() - seat.earlyNanos() <= now) {
          due.add(seat);
        }
      }
      due.forEach(KeptSeat::renewing);
      schedule();
    }
    if (due.isEmpty()) {
      return;
    }
    Clocks.Instant sent = clocks.now();
    CompletionStage<Void> unused =
        renewals
            .apply(due.stream().map(KeptSeat::text).toList())
            .thenAccept(
                outcomes -> {
                  for (int i = 0; i < due.size(); i++) {
                    due.get(i).renewed(outcomes.get(i), sent);
                  }
                  synchronized (seats) {
                    schedule();
                  }
                });
  }

  /** Returns how many seats are held. */
  public int size() {
    synchronized (seats) {
      return seats.size();
    }
  }

  /** Gives all seats back, and waits for the answers for half a second at most. */
  @Override
  public void close() {
    List<KeptSeat> all;
    synchronized (seats) {
      closed = true;
      if (next != null) {
        next.cancel();
      }
      all = new ArrayList<>(seats);
    }
    CompletableFuture<?>[] returned =
        all.stream().map(KeptSeat::release).toArray(CompletableFuture[]::new);
    Object unused =
        CompletableFuture.allOf(returned)
            .completeOnTimeout(null, CLOSE_MILLIS, TimeUnit.MILLISECONDS)
            .join();
  }
}
