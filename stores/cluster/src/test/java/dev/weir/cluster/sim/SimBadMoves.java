package dev.weir.cluster.sim;

import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.Placement;
import dev.weir.cluster.internal.map.SlotMove;
import dev.weir.cluster.internal.map.SlotsDraft;
import dev.weir.cluster.internal.state.GroupSlots.Phase;
import dev.weir.cluster.internal.state.SlotEntry;
import dev.weir.cluster.internal.state.SlotEntry.State;
import dev.weir.cluster.internal.state.SlotEntry.Verb;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/** Moves with a defect, between the right mover and the groups. */
final class SimBadMoves implements SlotMove.Way {
  /** The offset in lifted bytes of the instant at which they were lifted. */
  private static final int THEN_AT = 2 * Integer.BYTES + 2 * Long.BYTES;

  private static final long LATER_NANOS = 200 * Policies.MILLI;

  private final SimCluster cluster;
  private final SimNode self;
  private final SimMover right;

  /** A slot under the epoch of one move. */
  private record Moved(int slot, long epoch) {
    static Moved by(SlotEntry entry) {
      return new Moved(entry.slot(), entry.epoch());
    }
  }

  /**
   * The lifted bytes of each slot, as the other group should see them. Once known they stay, as in
   * a right build: two steps of one move may run at the same time.
   */
  private final Map<Moved, byte[]> lifted = new HashMap<>();

  /** The time of the group that should get a slot, from its last answer. */
  private final Map<Integer, Long> thereNanos = new HashMap<>();

  private SimBadMoves(SimCluster cluster, SimNode self, SimMover right) {
    this.cluster = cluster;
    this.self = self;
    this.right = right;
  }

  /** Returns the right way, or a wrong one for these defects. */
  static SlotMove.Way of(SimCluster cluster, SimNode self, SimMover right) {
    boolean wrong =
        cluster.defect == Defect.ACTIVATE_BEFORE_FREEZE
            || cluster.defect == Defect.MOVE_WITHOUT_SHIFT;
    return wrong ? new SimBadMoves(cluster, self, right) : right;
  }

  @Override
  public CompletionStage<State> apply(int group, SlotEntry entry) {
    if (cluster.defect == Defect.ACTIVATE_BEFORE_FREEZE && entry.verb() == Verb.FREEZE) {
      return peek(group, entry);
    }
    if (entry.verb() == Verb.ACTIVATE) {
      return right.apply(group, activate(entry));
    }
    return right
        .apply(group, entry)
        .thenApply(
            state -> {
              if (entry.verb() != Verb.FREEZE) {
                thereNanos.put(entry.slot(), state.nowNanos());
              }
              return state;
            });
  }

  private SlotEntry activate(SlotEntry entry) {
    byte[] bytes = lifted.get(Moved.by(entry));
    return SlotEntry.activate(
        entry.slot(),
        entry.epoch(),
        bytes == null ? entry.crc() : crc(bytes),
        entry.refundsAfterNanos());
  }

  /** Copies the keys of a slot, and makes the group that decides it stop some time later. */
  private CompletionStage<State> peek(int group, SlotEntry freeze) {
    int slot = freeze.slot();
    long first = (long) slot << Placement.SHIFT;
    long last = first | -1L >>> (Long.SIZE - Placement.SHIFT);
    self.run(
        LATER_NANOS,
        () -> {
          Object unused = right.apply(group, freeze);
        });
    SimLedger leader = cluster.groups.get(group).leader();
    if (leader == null) {
      return CompletableFuture.failedStage(new IllegalStateException("none leads"));
    }
    byte[] bytes =
        lifted.computeIfAbsent(
            Moved.by(freeze), each -> cluster.member(leader.node.name).copy(group, first, last));
    long then = ByteBuffer.wrap(bytes).getLong(THEN_AT);
    return CompletableFuture.completedStage(
        new State(then, Phase.FROZEN, freeze.epoch(), then, bytes.length, crc(bytes)));
  }

  @Override
  public CompletionStage<byte[]> lifted(int group, int slot, long epoch, int offset) {
    Moved move = new Moved(slot, epoch);
    byte[] known = lifted.get(move);
    if (known != null && (offset > 0 || cluster.defect == Defect.ACTIVATE_BEFORE_FREEZE)) {
      return CompletableFuture.completedStage(SimMover.chunk(known, offset));
    }
    return right
        .lifted(group, slot, epoch)
        .thenApply(
            all ->
                SimMover.chunk(lifted.computeIfAbsent(move, each -> unshifted(all, slot)), offset));
  }

  /** Returns the bytes as if they had been lifted at the other group's time. */
  private byte[] unshifted(byte[] all, int slot) {
    ByteBuffer bytes = ByteBuffer.wrap(all.clone());
    bytes.putLong(THEN_AT, thereNanos.getOrDefault(slot, 0L));
    int end = all.length - Long.BYTES;
    CRC32C crc = new CRC32C();
    crc.update(bytes.array(), 0, end);
    bytes.putLong(end, crc.getValue());
    return bytes.array();
  }

  private static long crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return crc.getValue();
  }

  @Override
  public CompletionStage<ClusterMap> change(Consumer<SlotsDraft> change) {
    return right.change(change);
  }
}
