package dev.weir.cluster.internal.map;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Fingerprint;
import dev.weir.cluster.Policies;
import dev.weir.cluster.SlotsStatus;
import dev.weir.cluster.internal.map.ClusterMap.Move;
import dev.weir.cluster.internal.map.ClusterMap.Step;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.GroupSlots;
import dev.weir.cluster.internal.state.GroupSlots.Phase;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.cluster.internal.state.SlotEntry;
import dev.weir.cluster.internal.state.SlotEntry.State;
import dev.weir.cluster.internal.state.SlotEntry.Verb;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The mover of slots, on state machines that answer at once or not at all. */
class RebalancerTest {
  private static final ClusterMap TWO =
      Roster.raised(Maps.of(1, "a", "b", "c").at(Levels.SLOT_MOVES), 2);

  private final FakeTicker ticker = new FakeTicker();
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final List<String> log = new ArrayList<>();
  private final Groups groups = new Groups();
  private boolean leads = true;
  private Rebalancer rebalancer = newRebalancer();

  private Rebalancer newRebalancer() {
    return new Rebalancer(groups, () -> leads, () -> groups.map, ticker, tasks::add, log::add);
  }

  /** Two groups, the first of which has all slots. */
  private static final class Groups implements SlotMove.Way {
    final Replica[] replicas = new Replica[2];
    final long[] indexes = new long[2];
    final boolean[] away = new boolean[2];
    ClusterMap map = TWO;
    int mostMoves;

    Groups() {
      for (int i = 0; i < replicas.length; i++) {
        int group = i;
        replicas[i] =
            new Replica(
                Fingerprint.seeded(1, 2),
                new GroupSlots(slot -> group == 0),
                new ClusterTime(new FakeTicker()),
                Runnable::run,
                line -> {});
      }
    }

    @Override
    public CompletionStage<State> apply(int group, SlotEntry entry) {
      if (away[group]) {
        return CompletableFuture.failedStage(new IllegalStateException("no leader"));
      }
      byte[] reply = replicas[group].apply(++indexes[group], entry.toEntry());
      return CompletableFuture.completedStage(State.read(reply));
    }

    @Override
    public CompletionStage<byte[]> lifted(int group, int slot, long epoch, int offset) {
      byte[] all = Objects.requireNonNull(replicas[group].slots().lifted(slot, epoch));
      return CompletableFuture.completedStage(Arrays.copyOfRange(all, offset, all.length));
    }

    @Override
    public CompletionStage<ClusterMap> change(Consumer<SlotsDraft> change) {
      SlotsDraft draft = new SlotsDraft(map);
      change.accept(draft);
      map = draft.next();
      mostMoves = Math.max(mostMoves, map.moves().size());
      return CompletableFuture.completedStage(map);
    }

    Phase phase(int group, int slot) {
      byte[] reply = replicas[group].apply(++indexes[group], SlotEntry.question(slot).toEntry());
      return State.read(reply).phase();
    }
  }

  private void tick(long millis) {
    ticker.advance(millis * Policies.MILLI);
    rebalancer.tick();
    for (Runnable next = tasks.poll(); next != null; next = tasks.poll()) {
      next.run();
    }
  }

  private int toMove() {
    return SlotsStatus.of(groups.map).toMove();
  }

  @Test
  void slots_moveToTheirGroups_fewAtOnce_andNoOthersDo() {
    Placement wanted = new Placement(2);
    int ticks = 0;
    while (toMove() > 0 && ticks++ < 2_000) {
      tick(100);
    }
    tick(1_000);
    assertThat(groups.map.slots()).isEqualTo(wanted.bySlot());
    assertThat(groups.map.moves()).isEmpty();
    assertThat(groups.mostMoves).isBetween(2, Rebalancer.MOST_AT_ONCE);
    for (int slot = 0; slot < Placement.SLOTS; slot++) {
      int group = groups.map.groupOfSlot(slot);
      assertThat(groups.phase(group, slot)).isEqualTo(Phase.OWNED);
      assertThat(groups.phase(1 - group, slot)).isEqualTo(Phase.AWAY);
    }
    assertThat(log).hasSize(2).last().asString().contains("where they should be");
    long epoch = groups.map.epoch();
    tick(10_000);
    assertThat(groups.map.epoch()).as("nothing is left to be done").isEqualTo(epoch);
  }

  /** On every member: the next leader goes on at once. */
  @Test
  void rest_isWhileAllSlotsAreWhereTheyShouldBe_whoeverLeads() {
    assertThat(rebalancer.rests()).isFalse();
    leads = false;
    assertThat(rebalancer.rests()).isFalse();
    ClusterMap before = groups.map;
    short[] wanted = new Placement(2).bySlot();
    groups.map =
        before.with(wanted, List.of(new Move(0, wanted[0], 1 - wanted[0], 3, Step.MOVING)));
    assertThat(rebalancer.rests()).as("a slot is on its way").isFalse();
    groups.map = before.with(wanted, List.of());
    assertThat(rebalancer.rests()).isTrue();
  }

  @Test
  void memberThatDoesNotLead_doesNothing() {
    leads = false;
    tick(100);
    assertThat(groups.map).isEqualTo(TWO);
    assertThat(groups.indexes).containsOnly(0);
  }

  @Test
  void groupThatDoesNotAnswer_isSentNothing_andCostsTheOtherNothing() {
    groups.away[1] = true;
    for (int i = 0; i < 100; i++) {
      tick(100);
    }
    assertThat(groups.map.moves()).isEmpty();
    assertThat(groups.replicas[0].slots().frozen()).isZero();
    assertThat(groups.indexes[0]).as("questions in ten seconds").isLessThanOrEqualTo(3);
    groups.away[1] = false;
    for (int i = 0; i < 60; i++) {
      tick(100);
    }
    assertThat(groups.map.groupOfSlot(firstToMove())).isEqualTo(1);
  }

  private static int firstToMove() {
    return Rebalancer.misplaced(TWO, new Placement(2)).get(0).slot();
  }

  /** The group that should get it goes away with the slot frozen; another member goes on. */
  @Test
  void frozenSlot_goesBack_whenTheOtherGroupCannotTakeIt() {
    int slot = firstToMove();
    groups.map = TWO.with(TWO.slots(), List.of(new Move(slot, 0, 1, 3, Step.MOVING)));
    assertThat(groups.apply(0, SlotEntry.of(Verb.FREEZE, slot, 3))).isCompleted();
    groups.away[1] = true;
    for (int i = 0; i < 200; i++) {
      tick(100);
    }
    assertThat(groups.phase(0, slot))
        .as("it may have it, as far as is known")
        .isEqualTo(Phase.FROZEN);
    groups.away[1] = false;
    rebalancer = newRebalancer();
    groups.away[1] = true;
    tick(100); // From now on it is waited for.
    ticker.advance(11 * Policies.SECOND);
    groups.away[1] = false;
    tick(0);
    assertThat(groups.phase(0, slot)).isEqualTo(Phase.OWNED);
    assertThat(groups.phase(1, slot)).isEqualTo(Phase.AWAY);
    assertThat(log).anyMatch(line -> line.contains("stays in group 0"));
    assertThat(groups.map.groupOfSlot(slot)).isZero();
  }
}
