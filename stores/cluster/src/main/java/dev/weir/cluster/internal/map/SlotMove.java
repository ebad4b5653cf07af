package dev.weir.cluster.internal.map;

import dev.weir.cluster.internal.map.ClusterMap.Move;
import dev.weir.cluster.internal.state.GroupSlots.Phase;
import dev.weir.cluster.internal.state.SlotEntry;
import dev.weir.cluster.internal.state.SlotEntry.State;
import dev.weir.cluster.internal.state.SlotEntry.Verb;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * The protocol that moves a slot, one step at a time, by the map. It keeps no state: any member may
 * do the next step, or repeat one. It has no thread and no clock of its own.
 */
public final class SlotMove {
  /*
   * The protocol is that of GroupSlots and of model/slot-move.pml. A step ends with a change of the
   * map, which is made only if the map is still as it was at the step's begin. So it does not
   * matter how many members take themselves for the one that moves slots, or where each of them
   * stops:
   *
   *   MOVING    FREEZE in A; the lifted bytes go to B as INSTALL entries; ACTIVATE; the map gives
   *             the slot to B: DROPPING. If B cannot get it: ABORT in B, and if the reply shows
   *             that B does not have it, THAWING
   *   DROPPING  DROP in A; the move is over
   *   THAWING   THAW in A, under the epoch of the map with this step; the move is over
   *
   * A gets FREEZE only after B has answered that it may take the slot: otherwise a group without a
   * leader would cost another one its keys.
   */

  /**
   * The largest part of a slot in one entry: several fit beside others into one message of a log.
   */
  static final int CHUNK_BYTES = 1 << 16;

  /** The connection to the groups and to the map. Safe for use by many threads. */
  public interface Way {
    /**
     * Makes a group apply an entry, once or more often.
     *
     * @return the state of the slot there afterwards; fails if it is not known whether the entry
     *     was applied
     */
    CompletionStage<State> apply(int group, SlotEntry entry);

    /**
     * Returns the lifted bytes of a slot from an offset on: at most {@link #CHUNK_BYTES}. Fails if
     * the slot is not frozen under that epoch in the group.
     */
    CompletionStage<byte[]> lifted(int group, int slot, long epoch, int offset);

    /**
     * Changes the map.
     *
     * @return the one in force afterwards, in which the change has been made if it was right; fails
     *     if that is not known
     */
    CompletionStage<ClusterMap> change(Consumer<SlotsDraft> change);
  }

  private final Way way;

  /** A receiver of the sizes of slots in bytes. */
  private final Consumer<? super Integer> sized;

  public SlotMove(Way way, Consumer<? super Integer> sized) {
    this.way = way;
    this.sized = sized;
  }

  /**
   * Does the next step of a move.
   *
   * @param patient true to continue it; otherwise it is given up, if that is still possible
   * @return the map afterwards; fails if some request failed: then the step has to be repeated
   */
  public CompletionStage<ClusterMap> step(Move move, boolean patient) {
    return switch (move.step()) {
      case MOVING -> patient ? carry(move) : giveUp(move);
      case DROPPING ->
          way.apply(move.from(), SlotEntry.of(Verb.DROP, move.slot(), move.epoch()))
              .thenCompose(had -> end(move, had.phase() == Phase.AWAY));
      case THAWING ->
          way.apply(move.from(), SlotEntry.of(Verb.THAW, move.slot(), move.epoch()))
              .thenCompose(has -> end(move, has.phase() == Phase.OWNED));
    };
  }

  private CompletionStage<ClusterMap> end(Move move, boolean done) {
    return done
        ? way.change(draft -> draft.over(move))
        : CompletableFuture.failedStage(new IllegalStateException("not done yet: " + move));
  }

  private static boolean has(State at, Phase phase, Move move) {
    return at.phase() == phase && at.epoch() == move.epoch();
  }

  private CompletionStage<ClusterMap> carry(Move move) {
    return way.apply(move.to(), SlotEntry.question(move.slot()))
        .thenCompose(
            there -> {
              if (has(there, Phase.OWNED, move)) {
                return arrived(move);
              }
              boolean free = there.phase() == Phase.AWAY && there.epoch() < move.epoch();
              return free || has(there, Phase.ARRIVING, move) ? freeze(move, there) : giveUp(move);
            });
  }

  private CompletionStage<ClusterMap> freeze(Move move, State there) {
    int came = there.phase() == Phase.ARRIVING ? there.size() : 0;
    return way.apply(move.from(), SlotEntry.of(Verb.FREEZE, move.slot(), move.epoch()))
        .thenCompose(
            frozen -> {
              if (!has(frozen, Phase.FROZEN, move)) {
                return giveUp(move);
              }
              sized.accept(frozen.size());
              return came == frozen.size() ? activate(move, frozen) : install(move, frozen, came);
            });
  }

  private CompletionStage<ClusterMap> install(Move move, State frozen, int offset) {
    return way.lifted(move.from(), move.slot(), move.epoch(), offset)
        .thenCompose(
            chunk ->
                way.apply(
                    move.to(),
                    SlotEntry.install(move.slot(), move.epoch(), chunk, offset, frozen.size())))
        .thenCompose(
            there -> {
              if (has(there, Phase.OWNED, move)) {
                return arrived(move);
              }
              if (!has(there, Phase.ARRIVING, move) || there.size() <= offset) {
                return giveUp(move);
              }
              return there.size() == frozen.size()
                  ? activate(move, frozen)
                  : install(move, frozen, there.size());
            });
  }

  private CompletionStage<ClusterMap> activate(Move move, State frozen) {
    SlotEntry entry =
        SlotEntry.activate(move.slot(), move.epoch(), frozen.crc(), frozen.refundsAfterNanos());
    return way.apply(move.to(), entry)
        .thenCompose(there -> has(there, Phase.OWNED, move) ? arrived(move) : giveUp(move));
  }

  private CompletionStage<ClusterMap> arrived(Move move) {
    return way.change(draft -> draft.arrived(move));
  }

  /**
   * Gives up a move, first in the group that should get the slot: under this epoch it can never
   * decide it then.
   */
  private CompletionStage<ClusterMap> giveUp(Move move) {
    return way.apply(move.to(), SlotEntry.of(Verb.ABORT, move.slot(), move.epoch()))
        .thenCompose(
            there -> {
              if (has(there, Phase.OWNED, move)) {
                return arrived(move);
              }
              return has(there, Phase.AWAY, move)
                  ? way.change(draft -> draft.givenUp(move))
                  : CompletableFuture.failedStage(
                      new IllegalStateException("neither here nor there: " + move));
            });
  }
}
