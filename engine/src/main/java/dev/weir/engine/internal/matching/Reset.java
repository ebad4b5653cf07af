package dev.weir.engine.internal.matching;

import dev.weir.Charges;
import dev.weir.Store;
import dev.weir.engine.ResetResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The reset of the keys of a request, one after the other. */
public final class Reset {
  private final PendingRequest pending;
  private final Store store;
  private final Consumer<? super ResetResult> done;
  private final List<ResetResult.Key> keys = new ArrayList<>();

  public Reset(PendingRequest pending, Store store, Consumer<? super ResetResult> done) {
    this.pending = pending;
    this.store = store;
    this.done = done;
  }

  public void start() {
    if (pending.problem() != null) {
      done.accept(new ResetResult(List.of(), pending.revision().number, pending.problem()));
    } else {
      next();
    }
  }

  private void next() {
    while (keys.size() < pending.size() && pending.charge(keys.size()) < 0) {
      keys.add(ResetResult.Key.NO_LIMIT);
    }
    if (keys.size() == pending.size()) {
      done.accept(new ResetResult(keys, pending.revision().number, null));
      return;
    }
    Charges charges = pending.charges();
    int charge = pending.charge(keys.size());
    int before = keys.size();
    try {
      store.reset(
          charges.binding(charge),
          charges.fingerprint(charge),
          pending.nowNanos(),
          used -> {
            keys.add(used ? ResetResult.Key.FORGOTTEN : ResetResult.Key.UNUSED);
            next();
          });
    } catch (UnsupportedOperationException e) {
      if (keys.size() > before) {
        throw e; // Thrown by the callback: the store has answered.
      }
      keys.add(ResetResult.Key.FAILED);
      next();
    }
  }
}
