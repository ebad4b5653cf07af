package dev.weir.engine;

import dev.weir.Algorithm;
import dev.weir.engine.holds.HoldSettings;
import dev.weir.engine.internal.holds.HeldCharge;
import dev.weir.engine.internal.holds.HoldToken;
import dev.weir.engine.internal.matching.PendingRequest;
import dev.weir.engine.internal.seats.StoreSeats;
import dev.weir.engine.seats.SeatAnswer;
import dev.weir.engine.seats.SeatMetrics;
import dev.weir.engine.seats.SeatOutcome;
import dev.weir.engine.seats.TakenSeat;
import dev.weir.rules.Request;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The part of an engine that gives out the permits of limits at the same time ({@link
 * Algorithm#CONCURRENCY}), renews them and takes them back, at whichever server the call arrives.
 * Safe for use by many threads.
 *
 * <p>A program that counts its own limits has {@link dev.weir.RateLimiter#seat(String)} instead.
 */
public final class Seats {
  /*
   * How can a seat be given back at any server, and nobody remembers it? The client keeps it, as a
   * signed text (HoldToken), as it keeps a hold. What was taken is known by the instant at which
   * the store counted it, which no other seat of the key has. So the store itself makes sure that
   * it is given back once, and not after it was lost; unlike a hold, it needs no record of what was
   * settled.
   */
  private final DecisionPath path;
  private final HeldTokens tokens;
  private final HoldSettings settings;
  private final LongAdder granted = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder renewed = new LongAdder();
  private final LongAdder released = new LongAdder();
  private final LongAdder lost = new LongAdder();
  private final LongAdder uncertain = new LongAdder();
  private final LongAdder leaked = new LongAdder();

  Seats(DecisionPath path, HeldTokens tokens, HoldSettings settings) {
    this.path = path;
    this.tokens = tokens;
    this.settings = settings;
  }

  /**
   * Decides a request, and returns what it has taken if it is admitted. Calls {@code done} exactly
   * once, as {@link Engine#decide(Request, Consumer)} does. A request that no limit at the same
   * time counts gets a seat as well, which does nothing.
   */
  public void acquire(Request request, Consumer<? super SeatAnswer> done) {
    String problem = tokens.problem(request, "seat");
    if (problem == null) {
      path.decide(request, answer -> done.accept(answered(request, answer)));
    } else {
      path.counters.errors.increment();
      done.accept(answered(request, Answer.error(problem, path.revision.number)));
    }
  }

  private SeatAnswer answered(Request request, Answer answer) {
    if (!answer.allowed()) {
      refused.increment();
      return new SeatAnswer(answer, "", 0);
    }
    granted.increment();
    HoldToken token = tokens.of(HoldToken.Kind.SEAT, request, answer, 0);
    return new SeatAnswer(answer, token.text(settings.key()), holdNanos(token, answer));
  }

  /** Returns the least hold of the seats of an answer, by the rules that decided it. */
  private static long holdNanos(HoldToken token, Answer answer) {
    long least = 0;
    for (int i = 0; i < token.charges().size(); i++) {
      HeldCharge charge = token.charges().get(i);
      CurrentLimit limit = answer.statuses().get(i).currentLimit();
      if (charge != null && charge.seat() && limit != null) {
        long hold = limit.policy().quota().windowNanos();
        least = least == 0 ? hold : Math.min(least, hold);
      }
    }
    return least;
  }

  /**
   * Returns the seats that an admitted request has taken; null if it has taken none. For the
   * process that decided it, which needs no text.
   */
  public @Nullable TakenSeat of(Request request, Answer answer) {
    if (!answer.allowed() || answer.shadowed()) {
      return null;
    }
    PendingRequest matched = path.matched(request, answer);
    StoreSeats taken = new StoreSeats(path.store, path.ticker);
    for (int i = 0; matched.problem() == null && i < matched.size(); i++) {
      HeldCharge charge = tokens.charge(matched, answer, i);
      if (charge != null && charge.seat()) {
        taken.add(matched, i, answer.statuses().get(i).decision());
      }
    }
    if (taken.isEmpty()) {
      return null;
    }
    granted.increment();
    return new CountedSeat(taken);
  }

  /** Returns the seats of a text, as far as the rules in force have them. */
  private StoreSeats find(HoldToken token) {
    StoreSeats found = new StoreSeats(path.store, path.ticker);
    PendingRequest matched = path.matched(token.request());
    for (int i = 0; i < token.charges().size(); i++) {
      HeldCharge charge = token.charges().get(i);
      if (charge == null || !charge.seat()) {
        continue;
      }
      Status held = matched.problem() == null ? tokens.held(token, matched, i) : Status.UNMATCHED;
      found.add(matched, i, held.decision());
    }
    return found;
  }

  /** Seats whose renewals and returns are counted. */
  private final class CountedSeat implements TakenSeat {
    /** The seats; null if they are not known. */
    private final @Nullable StoreSeats seats;

    CountedSeat(@Nullable StoreSeats seats) {
      this.seats = seats;
    }

    @Override
    public long holdNanos() {
      return seats == null ? 0 : seats.holdNanos();
    }

    @Override
    public void renew(Consumer<? super SeatOutcome> done) {
      if (seats == null) {
        counted(renewed, SeatOutcome.UNCERTAIN, done);
      } else {
        seats.renew(outcome -> counted(renewed, outcome, done));
      }
    }

    @Override
    public void release(Consumer<? super SeatOutcome> done) {
      if (seats == null) {
        counted(released, SeatOutcome.UNCERTAIN, done);
      } else {
        seats.release(outcome -> counted(released, outcome, done));
      }
    }

    @Override
    public void leaked() {
      leaked.increment();
    }
  }

  /**
   * Returns the seat of a text, at whichever server it was taken.
   *
   * @param seat of {@link SeatAnswer#seat}
   * @throws IllegalArgumentException if it is no seat that this engine can read
   */
  public TakenSeat read(String seat) {
    HoldToken token = HoldToken.read(HoldToken.Kind.SEAT, seat, settings.key());
    // What was taken cannot be found without rules.
    return new CountedSeat(path.revision.number == 0 ? null : find(token));
  }

  private void counted(
      LongAdder whenDone, SeatOutcome outcome, Consumer<? super SeatOutcome> done) {
    switch (outcome) {
      case DONE -> whenDone.increment();
      case LOST -> lost.increment();
      case UNCERTAIN -> uncertain.increment();
    }
    done.accept(outcome);
  }

  /** Returns the counts. */
  public SeatMetrics metrics() {
    return new SeatMetrics(
        granted.sum(),
        refused.sum(),
        renewed.sum(),
        released.sum(),
        lost.sum(),
        uncertain.sum(),
        leaked.sum());
  }
}
