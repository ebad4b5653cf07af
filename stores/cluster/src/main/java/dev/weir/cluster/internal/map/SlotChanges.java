package dev.weir.cluster.internal.map;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Changes of slots and moves that wait for the map: those that come while one change is in progress
 * are made together in the next. Safe for use by many threads.
 */
public final class SlotChanges {
  private final Function<UnaryOperator<ClusterMap>, CompletionStage<ClusterMap>> map;
  private List<Consumer<SlotsDraft>> waiting = new ArrayList<>();
  private CompletableFuture<ClusterMap> answer = new CompletableFuture<>();
  private boolean underWay;

  /**
   * Creates the changes.
   *
   * @param map changes the map, as {@link CurrentMap#change}
   */
  public SlotChanges(Function<UnaryOperator<ClusterMap>, CompletionStage<ClusterMap>> map) {
    this.map = map;
  }

  /** Adds a change, as {@link SlotMove.Way#change} describes. */
  CompletionStage<ClusterMap> change(Consumer<SlotsDraft> one) {
    CompletableFuture<ClusterMap> mine;
    boolean first;
    synchronized (this) {
      waiting.add(one);
      mine = answer;
      first = !underWay;
      underWay = true;
    }
    if (first) {
      send();
    }
    return mine;
  }

  /** Makes all waiting changes, unless some are in progress. */
  private void send() {
    List<Consumer<SlotsDraft>> taken;
    CompletableFuture<ClusterMap> mine;
    synchronized (this) {
      if (waiting.isEmpty()) {
        underWay = false;
        return;
      }
      taken = waiting;
      waiting = new ArrayList<>();
      mine = answer;
      answer = new CompletableFuture<>();
    }
    CompletionStage<ClusterMap> changed;
    try {
      changed =
          map.apply(
              from -> {
                SlotsDraft draft = new SlotsDraft(from);
                taken.forEach(each -> each.accept(draft));
                return draft.next();
              });
    } catch (RuntimeException e) {
      changed = CompletableFuture.failedStage(e);
    }
    Object unused = changed.whenComplete((inForce, error) -> made(mine, inForce, error));
  }

  private void made(
      CompletableFuture<ClusterMap> mine, @Nullable ClusterMap inForce, @Nullable Throwable error) {
    send(); // First: the next ones have waited for it.
    if (inForce != null) {
      mine.complete(inForce);
    } else {
      mine.completeExceptionally(error == null ? new IllegalStateException("no map") : error);
    }
  }
}
