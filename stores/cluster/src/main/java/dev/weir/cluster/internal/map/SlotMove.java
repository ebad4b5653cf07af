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
 * Does what the map says of a slot that moves, one step of it at a time. It remembers nothing: any
 * member may do the next step, or the same once more. It has no thread and no clock of its own.
 */
public final class SlotMove {
  /*
   * The protocol is that of GroupSlots and of model/slot-move.pml. A step ends with a change of the
   * map, which is made only if the map still says what the step began with. So it does not matter
   * how many members take themselves for the one that moves slots, or where each of them stops:
   *
   *   MOVING    FREEZE in A; what was lifted goes to B as INSTALL entries; ACTIVATE; the map gives
   *             the slot to B: DROPPING. Where B cannot have it: ABORT in B, and if that says that
   *             B does not have it, THAWING
   *   DROPPING  DROP in A; the move is over
   *   THAWING   THAW in A, under the epoch of the map that says so; the move is over
   *
   * A is not asked to freeze before B has answered, and has said that it may take the slot: else a
   * group without a leader would cost another one its keys.
   */

  /** What of a slot goes into one entry: some of them fit beside others into what a log sends. */
  static final int CHUNK_BYTES = 1 << 16;

  /** The way to the groups and to the map. Safe for use by many threads. */
  public interface Way {
    /**
     * Has a group apply an entry, once or more often.
     *
     * @return how the slot is there then; fails if it is not known whether it was applied
     */
    CompletionStage<State> apply(int group, SlotEntry entry);

    /**
     * Returns what a group has lifted, from an offset on: at most {@link #CHUNK_BYTES}. Fails if
     * the slot is not frozen under that epoch where this is asked.
     */
    CompletionStage<byte[]> lifted(int group, int slot, long epoch, int offset);

    /**
     * Changes the map.
     *
     * @return the one in force then, in which the change has been made if it was right; fails if
     *     that is not known
     */
    CompletionStage<ClusterMap> change(Consumer<SlotsDraft> change);
  }

  private final Way way;

  /** Receives how many bytes a slot has. */
  private final Consumer<? super Integer> sized;

  public SlotMove(Way way, Consumer<? super Integer> sized) {
    this.way = way;
    this.sized = sized;
  }

  /**
   * Does the next step of a move.
   *
   * @param patient whether to go on with it; else it is given up, if it still can be
   * @return the map after it; fails if something could not be asked: the step is to be done again
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

  /** First in the group that was to have it: under this epoch it can never decide it then. */
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
