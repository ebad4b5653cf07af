package dev.weir.shared.internal;

import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Decision;
import dev.weir.shared.Link;
import dev.weir.shared.SharedBinding;
import dev.weir.shared.SharedDecider;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A request whose keys are in several slots of a cluster, which no script can decide in one step:
 * each charge is made on its own, and all of them are given back if the request is refused. It may
 * cause refusals of other requests meanwhile; it never admits too much. Reports stay counted.
 */
public final class CrossSlots {
  private CrossSlots() {}

  public static boolean inOne(Charges charges, Link link) {
    int first = slot(charges, 0, link);
    for (int i = 1; i < charges.size(); i++) {
      if (slot(charges, i, link) != first) {
        return false;
      }
    }
    return true;
  }

  private static int slot(Charges charges, int i, Link link) {
    return link.slot((SharedBinding) charges.binding(i), charges.fingerprint(i));
  }

  /**
   * Decides such a request.
   *
   * @param waitedNanos the time that the request has already waited for the store
   */
  public static void decide(
      Charges charges,
      long nowNanos,
      long waitedNanos,
      SharedDecider decider,
      Consumer<? super Charges> done) {
    int size = charges.size();
    Charges[] parts = new Charges[size];
    AtomicInteger missing = new AtomicInteger(size);
    for (int i = 0; i < size; i++) {
      Role role = charges.role(i).isReport() ? charges.role(i) : Role.REQUIRED;
      Charges part =
          new Charges().add(charges.binding(i), charges.fingerprint(i), charges.permits(i), role);
      parts[i] = charges.peeking() ? part.peek() : part;
    }
    for (Charges part : parts) {
      decider.inOneStep(
          part,
          nowNanos,
          waitedNanos,
          decided -> {
            if (missing.decrementAndGet() == 0) {
              combine(charges, parts, nowNanos, decider);
              done.accept(charges);
            }
          });
    }
  }

  private static void combine(
      Charges charges, Charges[] parts, long nowNanos, SharedDecider decider) {
    for (int i = 0; i < parts.length; i++) {
      charges.result(i, parts[i], 0);
    }
    boolean allowed = charges.settle();
    for (int i = 0; i < parts.length && !allowed && !charges.peeking(); i++) {
      if (parts[i].counted(0) && !charges.role(i).isReport()) {
        Decision decision = parts[i].decision(0);
        decider.refund(
            (SharedBinding) charges.binding(i),
            charges.fingerprint(i),
            charges.permits(i),
            decision,
            nowNanos,
            given -> {});
      }
    }
  }
}
