package dev.weir.engine;

import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.MemoryStore;
import dev.weir.Store;
import java.util.function.Consumer;

/** One request with charges in both stores of a {@link RoutedStore}, decided once. */
final class SplitRequest {
  /*
   * Why in this order? The local part is charged first: that takes no time, so what the local part
   * refuses never costs the shared store a charge. Only then is the shared store asked, and what it
   * refuses is given back here, where giving back is certain to arrive. For as long as the shared
   * store takes, permits are held that may be given back: a concurrent request can be denied for
   * their sake, but at every instant each store counts at least what was admitted.
   *
   * One of all charges with the role ANY must fit, wherever it lies. While the other store may have
   * it, an ANY is OPTIONAL here; and once one has fitted here, those there are.
   */

  /** The charges that lie in one store, and their places in the whole. */
  private static final class Part {
    final Charges charges = new Charges();
    private final int[] places;

    Part(int size) {
      places = new int[size];
    }

    void add(Charges whole, int i) {
      places[charges.size()] = i;
      charges.add(whole.limit(i), whole.fingerprint(i), whole.permits(i), whole.role(i));
    }

    boolean has(Role role) {
      for (int i = 0; i < charges.size(); i++) {
        if (charges.role(i) == role) {
          return true;
        }
      }
      return false;
    }

    void anyIsOptional() {
      for (int i = 0; i < charges.size(); i++) {
        if (charges.role(i) == Role.ANY) {
          charges.role(i, Role.OPTIONAL);
        }
      }
    }

    /** Returns whether one of those fits of which in the whole one must. */
    boolean anyFits(Charges whole) {
      for (int i = 0; i < charges.size(); i++) {
        if (whole.role(places[i]) == Role.ANY && charges.fits(i)) {
          return true;
        }
      }
      return false;
    }

    void copyTo(Charges whole) {
      for (int i = 0; i < charges.size(); i++) {
        whole.result(
            places[i],
            charges.reason(i),
            charges.remaining(i),
            charges.retryAfterNanos(i),
            charges.resetAfterNanos(i),
            charges.atNanos(i));
      }
    }
  }

  private final MemoryStore local;
  private final Store shared;
  private final Charges whole;
  private final long nowNanos;
  private final Consumer<? super Charges> done;
  private final Part here;
  private final Part there;
  private boolean answered;

  SplitRequest(
      MemoryStore local,
      Store shared,
      Charges whole,
      long nowNanos,
      Consumer<? super Charges> done) {
    this.local = local;
    this.shared = shared;
    this.whole = whole;
    this.nowNanos = nowNanos;
    this.done = done;
    here = new Part(whole.size());
    there = new Part(whole.size());
    for (int i = 0; i < whole.size(); i++) {
      (local.owns(whole.limit(i)) ? here : there).add(whole, i);
    }
    if (whole.peeking()) {
      here.charges.peek();
      there.charges.peek();
    }
  }

  void decide() {
    if (there.has(Role.ANY)) {
      here.anyIsOptional();
    }
    local.decide(here.charges, nowNanos, decided -> {});
    if (here.anyFits(whole)) {
      there.anyIsOptional();
    }
    if (!here.charges.allowed()) {
      there.charges.peek(); // The answer still tells what remains.
    }
    try {
      shared.decide(there.charges, nowNanos, decided -> answer());
    } catch (RuntimeException e) {
      if (!answered && here.charges.allowed()) {
        giveBack();
      }
      throw e;
    }
  }

  private void answer() {
    answered = true;
    boolean allowed = here.charges.allowed() && there.charges.allowed();
    if (!allowed && here.charges.allowed()) {
      giveBack();
    }
    here.copyTo(whole);
    there.copyTo(whole);
    whole.allowed(allowed);
    done.accept(whole);
  }

  /** Gives back what was charged here, the last charge first, and looks at what is left then. */
  private void giveBack() {
    Charges charges = here.charges;
    if (charges.peeking()) {
      return;
    }
    for (int i = charges.size() - 1; i >= 0; i--) {
      if (charges.fits(i) && charges.permits(i) > 0) {
        local.refund(
            charges.limit(i),
            charges.fingerprint(i),
            charges.permits(i),
            charges.decision(i),
            nowNanos,
            given -> {});
      }
    }
    local.decide(charges.peek(), nowNanos, decided -> {});
  }
}
