package dev.weir.cluster.internal.map;

import dev.weir.cluster.internal.map.ClusterMap.Move;
import dev.weir.cluster.internal.map.ClusterMap.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A draft of the slots and moves of the next map, made from the one in force. Several changes may
 * be made in one map; each checks whether it is still right. Used by one thread.
 */
public final class SlotsDraft {
  private final ClusterMap from;
  private final short[] slots;
  private final TreeMap<Integer, Move> moves = new TreeMap<>();
  private boolean changed;

  SlotsDraft(ClusterMap from) {
    this.from = from;
    this.slots = from.slots();
    from.moves().forEach(each -> moves.put(each.slot(), each));
  }

  /** Returns the epoch of the map under construction. */
  private long epoch() {
    return from.epoch() + 1;
  }

  /** Begins the move of a slot to a group, unless it is there or moving. */
  public void begin(int slot, int to) {
    if (!moves.containsKey(slot) && slots[slot] != to && to < from.groups()) {
      put(new Move(slot, slots[slot], to, epoch(), Step.MOVING));
    }
  }

  /** Gives the slot of a move to its new group, which has all of its keys. */
  void arrived(Move move) {
    if (stands(move, Step.MOVING)) {
      slots[move.slot()] = (short) move.to();
      put(new Move(move.slot(), move.from(), move.to(), move.epoch(), Step.DROPPING));
    }
  }

  /** Leaves the slot of a move to the former group: the other one can never get it by this move. */
  void givenUp(Move move) {
    if (stands(move, Step.MOVING)) {
      put(new Move(move.slot(), move.from(), move.to(), epoch(), Step.THAWING));
    }
  }

  /** Ends a move, which has no further steps. */
  void over(Move move) {
    if (stands(move, Step.DROPPING) || stands(move, Step.THAWING)) {
      moves.remove(move.slot());
      changed = true;
    }
  }

  private boolean stands(Move move, Step step) {
    @Nullable Move known = moves.get(move.slot());
    return known != null && known.epoch() == move.epoch() && known.step() == step;
  }

  private void put(Move move) {
    moves.put(move.slot(), move);
    changed = true;
  }

  /** Returns the next map; the map in force if nothing has changed. */
  ClusterMap next() {
    List<Move> all = new ArrayList<>(moves.values());
    return changed ? from.with(slots, all) : from;
  }
}
