package dev.weir.engine;

import dev.weir.Algorithm;
import dev.weir.Charges;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.engine.internal.matching.BoundRule;
import dev.weir.engine.internal.matching.PendingRequest;
import dev.weir.engine.internal.matching.Refund;
import dev.weir.engine.internal.queues.Queues;
import dev.weir.rules.QueueBounds;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The part of an engine that decides for queues. Safe for use by many threads. */
final class QueueDecider implements Queues.QueueEngine {
  private final DecisionPath path;

  QueueDecider(DecisionPath path) {
    this.path = path;
  }

  /** Returns the place of descriptor {@code i}, or null if it has no queue. */
  static Queues.@Nullable Place place(PendingRequest pending, int i) {
    BoundRule bound = pending.bound(i);
    int charge = pending.charge(i);
    if (bound == null || charge < 0) {
      return null;
    }
    QueueBounds bounds = bound.rule.queue();
    Charges charges = pending.charges();
    return bounds == null || charges.role(charge) != Charges.Role.REQUIRED
        ? null
        : new Queues.Place(
            new Queues.Key(bound.rule.path(), charges.fingerprint(charge)),
            bounds,
            charges.permits(charge));
  }

  /** Refuses a request if other requests wait for its keys. */
  static void lineUp(PendingRequest pending, Queues queues) {
    for (int i = 0; i < pending.size(); i++) {
      Queues.Place place = place(pending, i);
      long ahead = place == null ? 0 : queues.permitsAhead(place.key());
      if (ahead > 0) {
        pending.queuedBehind(i, ahead);
      }
    }
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    path.decideFirst(request, done);
  }

  @Override
  public List<Queues.Place> places(Request request) {
    PendingRequest pending = path.matched(request);
    List<Queues.Place> places = new ArrayList<>();
    for (int i = 0; i < pending.size(); i++) {
      Queues.Place place = place(pending, i);
      if (place != null) {
        merge(places, place);
      }
    }
    return List.copyOf(places);
  }

  /** Merges descriptors of one key into one place, with the permits of all. */
  private static void merge(List<Queues.Place> places, Queues.Place place) {
    for (int i = 0; i < places.size(); i++) {
      Queues.Place other = places.get(i);
      if (other.key().equals(place.key())) {
        places.set(
            i, new Queues.Place(place.key(), place.bounds(), place.permits() + other.permits()));
        return;
      }
    }
    places.add(place);
  }

  @Override
  public void estimate(Request request, Queues.Key key, long permits, Consumer<? super Long> done) {
    PendingRequest pending = path.matched(request);
    for (int i = 0; i < pending.size(); i++) {
      Queues.Place place = place(pending, i);
      if (place != null && place.key().equals(key)) {
        estimate(pending.charges(), pending.charge(i), permits, done);
        return;
      }
    }
    done.accept(0L);
  }

  /**
   * Peeks how long it takes until a burst is free; permits beyond it take as long as they refill.
   */
  private void estimate(Charges of, int charge, long permits, Consumer<? super Long> done) {
    Policy policy = of.binding(charge).policy();
    if (policy.algorithm() == Algorithm.CONCURRENCY) { // Seats may be given back at any time.
      done.accept(0L);
      return;
    }
    long first = Math.min(permits, policy.burst());
    long refill = PendingRequest.refillNanos(policy, permits - first);
    Charges peek = new Charges().add(of.binding(charge), of.fingerprint(charge), first).peek();
    path.store.decide(
        peek,
        path.ticker.nanos(),
        decided ->
            done.accept(Math.min(decided.retryAfterNanos(0), Quota.MAX_WINDOW_NANOS) + refill));
  }

  @Override
  public void refund(Request request, Answer answer) {
    new Refund(path.matched(request, answer), answer, path.store, given -> {}).give();
  }
}
