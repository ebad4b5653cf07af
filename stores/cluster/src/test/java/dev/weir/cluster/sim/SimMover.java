package dev.weir.cluster.sim;

import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.asking.Route;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.ClusterMap.Move;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.map.PeerSlots;
import dev.weir.cluster.internal.map.Rebalancer;
import dev.weir.cluster.internal.map.SlotChanges;
import dev.weir.cluster.internal.map.SlotMove;
import dev.weir.cluster.internal.map.SlotsDraft;
import dev.weir.cluster.internal.state.SlotEntry;
import dev.weir.cluster.internal.state.SlotEntry.State;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The mover of slots on one member until it crashes: the real {@link SlotMove}, {@link PeerSlots}
 * and {@link Rebalancer}, with messages that may be late, lost, or answered by a former leader.
 */
final class SimMover implements SlotMove.Way {
  private static final long ANSWER_NANOS = 400 * Policies.MILLI;

  /** Small enough that most slots need several. */
  private static final int CHUNK_BYTES = 150;

  private final SimMember self;
  private final SimCluster cluster;
  private final PeerSlots slots;
  private final SlotMove mover;
  private final Rebalancer rebalancer;
  private final Set<Integer> running = new HashSet<>();
  private final Map<Move, Long> sinceNanos = new HashMap<>();

  /** The longest time of a move before it is given up. */
  private final long patienceNanos;

  SimMover(SimMember self, SimCluster cluster) {
    this.self = self;
    this.cluster = cluster;
    CurrentMap map = self.map();
    SlotChanges changes = new SlotChanges(step -> inTime(map.change(self.ledger(0), step)));
    slots = new PeerSlots(map, this::send, changes);
    SlotMove.Way way = SimBadMoves.of(cluster, self.node, this);
    mover = new SlotMove(way, bytes -> {});
    rebalancer =
        new Rebalancer(
            way,
            () -> self.ledger(0).leads(),
            map,
            self.node.monotonic(),
            task -> self.node.run(0, task),
            line -> {});
    patienceNanos = cluster.scheduler.between(50 * Policies.MILLI, 5_000 * Policies.MILLI);
  }

  /** Moves slots to a group. */
  void begin(List<Integer> some, int to) {
    Object unused = change(draft -> some.forEach(each -> draft.begin(each, to)));
  }

  /** Continues moves; to be called several times a second. */
  void tick() {
    if (cluster.rebalances) {
      rebalancer.tick();
    }
    // Any member may do any step, and give up any move.
    if (cluster.scheduler.oneIn(20) || (self.ledger(0).leads() && !cluster.rebalances)) {
      List<Move> moves = self.map().get().moves();
      sinceNanos.keySet().retainAll(moves);
      moves.forEach(this::step);
    }
  }

  private void step(Move move) {
    if (!running.add(move.slot())) {
      return;
    }
    long now = cluster.scheduler.nanos();
    boolean patient = now - sinceNanos.computeIfAbsent(move, unused -> now) < patienceNanos;
    Object unused =
        mover
            .step(move, patient)
            .whenComplete(
                (map, error) -> {
                  running.remove(move.slot());
                  Move next = map == null ? null : map.move(move.slot());
                  if (next != null && !next.equals(move)) {
                    step(next);
                  }
                });
  }

  @Override
  public CompletionStage<State> apply(int group, SlotEntry entry) {
    return slots
        .apply(group, entry)
        .thenApply(
            state -> {
              cluster.history.count("slots: " + entry.verb() + ", " + state.phase(), 1);
              return state;
            });
  }

  @Override
  public CompletionStage<byte[]> lifted(int group, int slot, long epoch, int offset) {
    return slots
        .lifted(group, slot, epoch, offset)
        .thenApply(some -> Arrays.copyOf(some, Math.min(some.length, CHUNK_BYTES)));
  }

  /** Returns all lifted bytes of a group. */
  CompletionStage<byte[]> lifted(int group, int slot, long epoch) {
    return slots.lifted(group, slot, epoch, 0);
  }

  static byte[] chunk(byte[] all, int offset) {
    return Arrays.copyOfRange(all, offset, Math.min(all.length, offset + CHUNK_BYTES));
  }

  @Override
  public CompletionStage<ClusterMap> change(Consumer<SlotsDraft> change) {
    return slots.change(change);
  }

  /** Implements {@link Route}. */
  private CompletionStage<byte[]> send(String member, int group, byte[] question) {
    SimMember there = cluster.member(member);
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    cluster.net.send(
        self.node,
        there.node,
        () ->
            there
                .slot(group, question.clone())
                .whenComplete(
                    (reply, error) ->
                        cluster.net.send(there.node, self.node, () -> end(answer, reply, error))));
    return inTime(answer);
  }

  private <T> CompletionStage<T> inTime(CompletionStage<T> answer) {
    CompletableFuture<T> timed = new CompletableFuture<>();
    Object unused = answer.whenComplete((reply, error) -> end(timed, reply, error));
    self.node.run(
        ANSWER_NANOS,
        () -> timed.completeExceptionally(new LedgerException(Outcome.UNKNOWN, null, "late")));
    return timed;
  }

  private static <T> void end(
      CompletableFuture<T> answer, @Nullable T reply, @Nullable Throwable error) {
    if (reply != null) {
      answer.complete(reply);
    } else {
      answer.completeExceptionally(error == null ? new IllegalStateException("no reply") : error);
    }
  }
}
