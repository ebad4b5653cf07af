package dev.weir.testkit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The right answers about the seats of one key, from a plain list of what is out. It shares no code
 * with the stores.
 */
final class SeatOracle {
  /** Permits that are out. */
  private record TakenSeat(long takenNanos, long sinceNanos, long permits) {}

  /** Permits that were out, from one instant to before another, and the limit when they came. */
  private record Interval(long fromNanos, long untilNanos, long permits, long limit) {}

  /**
   * The answer to a request.
   *
   * @param retryAfterNanos counted from the request's own time
   */
  record Verdict(boolean allowed, long remaining, long retryAfterNanos, long atNanos) {}

  private final long holdNanos;
  private final long stepNanos;
  private long limit;
  private long changedNanos = -(1L << 62);
  private List<TakenSeat> out = new ArrayList<>();
  private final List<Interval> all = new ArrayList<>();

  /**
   * Creates the oracle of a key that was not used.
   *
   * @param stepNanos the least time by which a key's changes at one instant are apart
   */
  SeatOracle(long limit, long holdNanos, long stepNanos) {
    this.limit = limit;
    this.holdNanos = holdNanos;
    this.stepNanos = stepNanos;
  }

  /** Puts another limit in force. */
  void limit(long permits) {
    limit = permits;
  }

  /** Returns the time of a request; what is lost by then is no longer out. */
  private long arrive(long nowNanos) {
    long at = Math.max(nowNanos, changedNanos + stepNanos);
    for (TakenSeat each : List.copyOf(out)) {
      if (each.sinceNanos() + holdNanos <= at) {
        end(each, each.sinceNanos() + holdNanos);
      }
    }
    return at;
  }

  private void end(TakenSeat seat, long atNanos) {
    out.remove(seat);
    for (int i = 0; i < all.size(); i++) {
      Interval each = all.get(i);
      if (each.fromNanos() == seat.takenNanos() && each.untilNanos() == Long.MAX_VALUE) {
        all.set(i, new Interval(each.fromNanos(), atNanos, seat.permits(), each.limit()));
        return;
      }
    }
    throw new AssertionError("no interval of " + seat);
  }

  private long used() {
    return out.stream().mapToLong(TakenSeat::permits).sum();
  }

  /** Decides a request. */
  Verdict take(long nowNanos, long permits) {
    long at = arrive(nowNanos);
    if (permits > 0 && used() + permits > limit) {
      long retry = permits > limit ? Long.MAX_VALUE : fitsNanos(permits) - nowNanos;
      return new Verdict(false, Math.max(0, limit - used()), retry, at);
    }
    if (permits > 0) {
      out.add(new TakenSeat(at, at, permits));
      all.add(new Interval(at, Long.MAX_VALUE, permits, limit));
      changedNanos = at;
    }
    return new Verdict(true, Math.max(0, limit - used()), 0, at);
  }

  /** Returns the instant at which so many are lost that the permits fit. */
  private long fitsNanos(long permits) {
    long left = used();
    for (TakenSeat each : byLoss()) {
      left -= each.permits();
      if (left + permits <= limit) {
        return each.sinceNanos() + holdNanos;
      }
    }
    throw new AssertionError("permits: " + permits + " do not fit into " + limit);
  }

  private List<TakenSeat> byLoss() {
    return out.stream().sorted(Comparator.comparingLong(TakenSeat::sinceNanos)).toList();
  }

  /** Returns how many permits are given back of those that were taken at an instant. */
  long giveBack(long nowNanos, long takenNanos, long permits) {
    long at = arrive(nowNanos);
    for (TakenSeat each : List.copyOf(out)) {
      if (each.takenNanos() == takenNanos) {
        return part(each, at, permits);
      }
    }
    return 0;
  }

  /** Returns how many permits are given back of those that would be lost first. */
  long giveBackFirst(long nowNanos, long permits) {
    long at = arrive(nowNanos);
    long given = 0;
    for (TakenSeat each : byLoss()) {
      given += part(each, at, permits - given);
    }
    return given;
  }

  private long part(TakenSeat seat, long atNanos, long permits) {
    long given = Math.min(permits, seat.permits());
    if (given == 0) {
      return 0;
    }
    end(seat, atNanos);
    if (given < seat.permits()) { // What stays is out as before.
      long left = seat.permits() - given;
      out.add(new TakenSeat(seat.takenNanos(), seat.sinceNanos(), left));
      all.add(new Interval(seat.takenNanos(), Long.MAX_VALUE, left, Long.MAX_VALUE));
      all.replaceAll(each -> shortened(each, seat, given, atNanos));
    }
    return given;
  }

  private static Interval shortened(Interval each, TakenSeat seat, long given, long atNanos) {
    boolean same = each.fromNanos() == seat.takenNanos() && each.untilNanos() == atNanos;
    return same ? new Interval(each.fromNanos(), atNanos, given, each.limit()) : each;
  }

  /** Returns whether the seat that was taken at an instant is out, and keeps it for longer. */
  boolean renew(long nowNanos, long takenNanos) {
    long at = arrive(nowNanos);
    for (TakenSeat each : List.copyOf(out)) {
      if (each.takenNanos() == takenNanos) {
        out.remove(each);
        out.add(new TakenSeat(takenNanos, at, each.permits()));
        changedNanos = at;
        return true;
      }
    }
    return false;
  }

  /** Returns whether at the instant of each admission all that was out was within its limit. */
  boolean neverBeyondTheLimit() {
    for (Interval one : all) {
      long atOnce = 0;
      for (Interval each : all) {
        boolean covers = each.fromNanos() <= one.fromNanos() && one.fromNanos() < each.untilNanos();
        atOnce += covers ? each.permits() : 0;
      }
      if (atOnce > one.limit()) {
        return false;
      }
    }
    return true;
  }
}
