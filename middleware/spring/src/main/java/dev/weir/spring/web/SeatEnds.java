package dev.weir.spring.web;

import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The seats that limits deep in the chain have taken for one request, to be given back at its end.
 * Safe for use by many threads.
 */
final class SeatEnds {
  /*
   * Why do the filters of a gateway's routes not give their seats back themselves? Their chain is
   * complete at the head of the upstream's answer, whose body a filter further out sends. So a
   * filter around all of them puts this object into the subscription's context, and ends it.
   */

  /** The key in the context of a subscription. */
  private static final Object KEY = SeatEnds.class;

  private final Map<RequestLimiter, Verdict> held = new HashMap<>();
  private boolean over;

  /** Returns the context of a request with this object. */
  Context in(Context context) {
    return context.put(KEY, this);
  }

  /** Returns the object of the request; null if no filter ends it. */
  static @Nullable SeatEnds of(ContextView context) {
    return context.<@Nullable SeatEnds>getOrDefault(KEY, null);
  }

  /** Gives back the seat of an earlier try of the request, which is decided again. */
  void again(RequestLimiter limiter) {
    Verdict before;
    synchronized (held) {
      before = held.remove(limiter);
    }
    if (before != null) {
      before.ended();
    }
  }

  void add(RequestLimiter limiter, Verdict verdict) {
    boolean late;
    synchronized (held) {
      late = over;
      if (!late) {
        held.put(limiter, verdict);
      }
    }
    if (late) {
      verdict.ended();
    }
  }

  void end() {
    List<Verdict> all;
    synchronized (held) {
      over = true;
      all = List.copyOf(held.values());
    }
    all.forEach(Verdict::ended);
  }
}
