package dev.weir.engine.internal.stores;

import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Store;
import dev.weir.engine.RoutedStore;
import java.util.function.Consumer;

/**
 * One request with charges in both stores of a {@link RoutedStore}, decided once. Each step begins
 * when the one before has been answered, on the thread of that answer, so no two run at once.
 */
public final class SplitRequest {
  /*
   * Why in this order? The first store is the one that answers on the caller's thread, if there is
   * one: its call takes no time, so a request that it refuses never costs the second store a
   * charge. Only then is the second store called, and if it refuses, the charges are given back in
   * the first. Until the second store answers, permits are held in the first that may be given
   * back: a concurrent request can be refused because of them, but at every instant each store
   * counts at least what was admitted.
   *
   * Charges are given back in reverse order, one refund after the other: a bucket takes back all of
   * a charge only if it is its latest. The request is answered when all refunds are, so that a
   * caller who repeats it finds the permits available again.
   *
   * One of all charges with the role ANY must pass, in either store. While it may still pass in the
   * second store, an ANY is OPTIONAL in the first; and once one has passed in the first, those in
   * the second are OPTIONAL. So both stores allow their parts exactly if Charges.settle allows the
   * whole.
   *
   * Reports are counted first, one after the other: they are counted whatever the other charges do,
   * and are never given back. If one refuses the request, the others are only peeked at.
   */

  /** The charges that belong to one store, and their places in the whole request. */
  private static final class Part {
    final Store store;
    final Charges charges = new Charges();
    private final int[] places;

    Part(Store store, int size) {
      this.store = store;
      places = new int[size];
    }

    void add(Charges whole, int i) {
      places[charges.size()] = i;
      charges.add(whole.binding(i), whole.fingerprint(i), whole.permits(i), whole.role(i));
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

    /** Returns whether a charge passes whose role in the whole request is ANY. */
    boolean anyPasses(Charges whole) {
      for (int i = 0; i < charges.size(); i++) {
        if (whole.role(places[i]) == Role.ANY && (charges.fits(i) || charges.forgiven(i))) {
          return true;
        }
      }
      return false;
    }

    void copyTo(Charges whole) {
      for (int i = 0; i < charges.size(); i++) {
        whole.result(places[i], charges, i);
      }
    }
  }

  private final Charges whole;
  private final long nowNanos;
  private final Consumer<? super Charges> done;
  private final Part first;
  private final Part second;
  private int reports;
  private boolean secondAnswered;

  /**
   * Creates a request over two stores.
   *
   * @param first the store that is called first
   * @param second the other one; it owns every binding that the first does not
   */
  public SplitRequest(
      Store first, Store second, Charges whole, long nowNanos, Consumer<? super Charges> done) {
    this.whole = whole;
    this.nowNanos = nowNanos;
    this.done = done;
    this.first = new Part(first, whole.size());
    this.second = new Part(second, whole.size());
    for (int i = 0; i < whole.size(); i++) {
      if (!isReport(i)) {
        (first.owns(whole.binding(i)) ? this.first : this.second).add(whole, i);
      }
    }
    if (whole.peeking()) {
      this.first.charges.peek();
      this.second.charges.peek();
    }
  }

  private boolean isReport(int i) {
    return whole.role(i).isReport() && !whole.peeking();
  }

  public void decide() {
    while (reports < whole.size() && !isReport(reports)) {
      reports++;
    }
    if (reports < whole.size()) {
      count(reports++);
      return;
    }
    decideFirst();
  }

  /** Counts a report, and goes on. */
  private void count(int i) {
    Store store = first.store.owns(whole.binding(i)) ? first.store : second.store;
    store.decide(
        new Charges().add(whole.binding(i), whole.fingerprint(i), whole.permits(i), whole.role(i)),
        nowNanos,
        counted -> {
          whole.result(i, counted, 0);
          if (!counted.allowed()) {
            first.charges.peek();
          }
          decide();
        });
  }

  private void decideFirst() {
    if (second.has(Role.ANY)) {
      first.anyIsOptional();
    }
    first.store.decide(first.charges, nowNanos, decided -> decideSecond());
  }

  private void decideSecond() {
    if (first.anyPasses(whole)) {
      second.anyIsOptional();
    }
    if (!first.charges.allowed() || first.charges.peeking()) {
      second.charges.peek(); // The answer still has what remains.
    }
    try {
      second.store.decide(second.charges, nowNanos, decided -> answer());
    } catch (RuntimeException e) {
      if (!secondAnswered && isCharged(first)) {
        giveBack(first.charges.size() - 1, () -> {});
      }
      throw e;
    }
  }

  private void answer() {
    secondAnswered = true;
    first.copyTo(whole);
    second.copyTo(whole);
    if (whole.settle() || !isCharged(first)) {
      done.accept(whole);
    } else {
      giveBack(first.charges.size() - 1, this::peekFirst);
    }
  }

  private static boolean isCharged(Part part) {
    return part.charges.allowed() && !part.charges.peeking();
  }

  /** Gives back the charges of the first store: charge {@code i} and then those before it. */
  private void giveBack(int i, Runnable then) {
    Charges charges = first.charges;
    int last = i;
    while (last >= 0 && !(charges.fits(last) && charges.permits(last) > 0)) {
      last--;
    }
    if (last < 0) {
      then.run();
      return;
    }
    int charged = last;
    first.store.refund(
        charges.binding(charged),
        charges.fingerprint(charged),
        charges.permits(charged),
        charges.decision(charged),
        nowNanos,
        given -> giveBack(charged - 1, then));
  }

  /** Peeks what is left in the first store now that nothing is charged, and answers. */
  private void peekFirst() {
    first.store.decide(
        first.charges.peek(),
        nowNanos,
        decided -> {
          first.copyTo(whole);
          done.accept(whole);
        });
  }
}
