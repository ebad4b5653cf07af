package dev.weir.cluster.internal.map;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Fingerprint;
import dev.weir.Reason;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.map.ClusterMap.Move;
import dev.weir.cluster.internal.map.ClusterMap.Step;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.state.ClusterPolicy;
import dev.weir.cluster.internal.state.ClusterReply;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.Entries;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.GroupSlots;
import dev.weir.cluster.internal.state.GroupSlots.Phase;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.cluster.internal.state.SlotEntry;
import dev.weir.cluster.internal.state.SlotEntry.State;
import dev.weir.shared.Result;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A slot that moves between two state machines, with movers that stop and messages that are late.
 */
class SlotMoveTest {
  private static final int SLOT = 7;
  private static final long KEY = 7L << Placement.SHIFT | 5;
  private static final ClusterMap ALL_IN_0 =
      ClusterMap.builder(Levels.SLOT_MOVES, 1)
          .members(Maps.of(1, "a").members())
          .replicas(List.of(List.of("a"), List.of("a")))
          .build();

  /** A world of two groups with times of their own, the map, and the messages in flight. */
  private static final class World implements SlotMove.Way {
    final SplittableRandom random;
    final Replica[] groups = new Replica[2];
    final long[] aheadNanos = new long[2];
    final long[] indexes = new long[2];
    final List<Runnable> onTheWay = new ArrayList<>();
    final List<Runnable> sent = new ArrayList<>();
    final Set<Step> steps = EnumSet.noneOf(Step.class);
    ClusterMap map = ALL_IN_0;
    long realNanos;
    int installs;
    boolean faults = true;

    World(SplittableRandom random) {
      this.random = random;
      for (int i = 0; i < groups.length; i++) {
        int group = i;
        aheadNanos[i] = random.nextLong(100) * Policies.SECOND / 7;
        groups[i] =
            new Replica(
                Fingerprint.seeded(1, 2),
                new GroupSlots(slot -> group == 0),
                new ClusterTime(new FakeTicker()),
                Runnable::run,
                line -> {});
      }
    }

    byte[] decide(int group, byte[] entry) {
      Entry.stamp(entry, realNanos + aheadNanos[group]);
      return groups[group].apply(++indexes[group], entry);
    }

    /**
     * Returns the result of an action that happens some time later, or happens and is reported as
     * failed, or never happens.
     */
    private <T> CompletionStage<T> later(Supplier<T> doing) {
      CompletableFuture<T> answer = new CompletableFuture<>();
      int luck = faults ? random.nextInt(20) : 19;
      onTheWay.add(
          () -> {
            if (luck == 0) {
              answer.completeExceptionally(new IllegalStateException("not sent"));
              return;
            }
            T result;
            try {
              result = doing.get();
            } catch (IllegalStateException e) {
              answer.completeExceptionally(e);
              return;
            }
            if (luck == 1) {
              answer.completeExceptionally(new IllegalStateException("not known"));
            } else {
              answer.complete(result);
            }
          });
      return answer;
    }

    @Override
    public CompletionStage<State> apply(int group, SlotEntry entry) {
      installs += entry.verb() == SlotEntry.Verb.INSTALL ? 1 : 0;
      Supplier<State> doing = () -> State.read(decide(group, entry.toEntry()));
      sent.add(
          () -> {
            State unused = doing.get();
          });
      return later(doing);
    }

    @Override
    public CompletionStage<byte[]> lifted(int group, int slot, long epoch, int offset) {
      return later(
          () -> {
            byte[] all = groups[group].slots().lifted(slot, epoch);
            if (all == null) {
              throw new IllegalStateException("not frozen");
            }
            int most = faults ? random.nextInt(1, 40) : SlotMove.CHUNK_BYTES;
            return Arrays.copyOfRange(all, offset, Math.min(all.length, offset + most));
          });
    }

    @Override
    public CompletionStage<ClusterMap> change(Consumer<SlotsDraft> change) {
      return later(
          () -> {
            SlotsDraft draft = new SlotsDraft(map);
            change.accept(draft);
            map = draft.next();
            map.moves().forEach(each -> steps.add(each.step()));
            return map;
          });
    }

    Phase phase(int group) {
      return State.read(decide(group, SlotEntry.question(SLOT).toEntry())).phase();
    }

    /** Delivers one of the messages in flight. */
    void arrive() {
      if (!onTheWay.isEmpty()) {
        onTheWay.remove(random.nextInt(onTheWay.size())).run();
      }
    }

    void repeat() {
      if (!sent.isEmpty()) {
        sent.get(random.nextInt(sent.size())).run();
      }
    }
  }

  private static @Nullable Result request(World world, int group, ClusterPolicy policy) {
    ClusterReply reply =
        new ClusterReply(world.decide(group, Entries.entry(Entries.decideOne(policy, KEY, 1, 1))));
    long unused = reply.number();
    Result result = reply.result();
    return result.reason() == Reason.UNCERTAIN ? null : result;
  }

  /**
   * Three movers, each of which reads the map, does a step of it, and may stop anywhere; their
   * messages may come again much later.
   */
  @Tag("model")
  @Tag("sample")
  @ParameterizedTest
  @EnumSource(value = Algorithm.class, mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
  void moversThatStopAnywhere_leaveOneOwner_andExceedNoLimit(Algorithm algorithm) {
    int runs = Trials.runs(20, 60);
    SplittableRandom random = Trials.random("movers of " + algorithm, runs);
    EnumSet<Step> steps = EnumSet.noneOf(Step.class);
    int moved = 0;
    for (int trial = 0; trial < runs; trial++) {
      ClusterPolicy policy =
          ClusterPolicy.of("ten", Policies.of(algorithm, 10, 10 * Policies.SECOND));
      World world = new World(random);
      List<Operation> admitted = new ArrayList<>();
      for (int i = 0; i < 600; i++) {
        world.realNanos +=
            random.nextLong(random.nextInt(30) == 0 ? 9 * Policies.SECOND : 1L << 28);
        int what = random.nextInt(12);
        if (what == 0) {
          int to = 1 - world.map.groupOfSlot(SLOT);
          Object unused = world.change(draft -> draft.begin(SLOT, to));
        } else if (what == 1) {
          Move move = world.map.move(SLOT);
          if (move != null) {
            Object unused = new SlotMove(world, size -> {}).step(move, random.nextInt(4) > 0);
          }
        } else if (what == 2) {
          world.repeat();
        } else if (what < 8) {
          world.arrive();
        } else {
          int deciding = 0;
          for (int group = 0; group < 2; group++) {
            Result result = request(world, group, policy);
            deciding += result == null ? 0 : 1;
            if (result != null && result.fits()) {
              admitted.add(Operation.admitted("key", 1, world.realNanos));
            }
          }
          assertThat(deciding).as("groups that decide").isLessThanOrEqualTo(1);
        }
      }
      finish(world);
      int owner = world.map.groupOfSlot(SLOT);
      assertThat(world.phase(owner)).isEqualTo(Phase.OWNED);
      assertThat(world.phase(1 - owner)).isEqualTo(Phase.AWAY);
      assertThat(WindowChecker.maxInAnyWindow(admitted, 10 * Policies.SECOND))
          .as("trial %d", trial)
          .isLessThanOrEqualTo(Oracle.bound(policy.policy()));
      steps.addAll(world.steps);
      moved += owner;
    }
    assertThat(steps).containsExactlyInAnyOrder(Step.values());
    assertThat(moved).isBetween(1, runs - 1);
  }

  /** Checks that a mover which does not stop finishes, whatever the others have left. */
  private static void finish(World world) {
    world.faults = false;
    while (!world.onTheWay.isEmpty()) {
      world.arrive();
    }
    for (Move move = world.map.move(SLOT); move != null; move = world.map.move(SLOT)) {
      Object unused = new SlotMove(world, size -> {}).step(move, true);
      while (!world.onTheWay.isEmpty()) {
        world.arrive();
      }
      assertThat(world.map.move(SLOT)).isNotEqualTo(move);
    }
  }

  /**
   * A slot of many keys is sent in chunks, and a second mover goes on where the first one stopped.
   */
  @Test
  void largeSlot_goesInChunks_andIsNotSentTwice() {
    World world = new World(Trials.random("a large slot"));
    world.faults = false;
    ClusterPolicy policy =
        ClusterPolicy.of("ten", Policies.of(Algorithm.TOKEN_BUCKET, 10, 1L << 40));
    Entries.Op[] keys = new Entries.Op[9_000];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = Entries.decideOne(policy, KEY + ((long) i << 38), 1, 1);
    }
    byte[] charged = world.decide(0, Entries.entry(keys));
    assertThat(charged).hasSizeGreaterThan(keys.length);
    world.map = world.map.with(world.map.slots(), List.of(new Move(SLOT, 0, 1, 2, Step.MOVING)));
    int[] bytes = new int[1];
    SlotMove mover = new SlotMove(world, size -> bytes[0] = size);
    Object unused = mover.step(Objects.requireNonNull(world.map.move(SLOT)), true);
    while (world.installs < 3) {
      world.arrive();
    }
    world.onTheWay.clear(); // The first one stops.
    finish(world);
    int chunks = -Math.floorDiv(-bytes[0], SlotMove.CHUNK_BYTES);
    assertThat(chunks).isGreaterThan(2);
    assertThat(world.installs).isEqualTo(chunks + 1); // The third never arrived.
    assertThat(world.phase(1)).isEqualTo(Phase.OWNED);
    assertThat(Objects.requireNonNull(request(world, 1, policy)).remaining()).isEqualTo(8);
  }

  @Test
  void changesThatComeTogether_areOneMap() {
    ClusterMap[] map = {ALL_IN_0};
    List<CompletableFuture<ClusterMap>> answers = new ArrayList<>();
    List<Runnable> changing = new ArrayList<>();
    SlotChanges changes =
        new SlotChanges(
            step -> {
              CompletableFuture<ClusterMap> answer = new CompletableFuture<>();
              changing.add(
                  () -> {
                    map[0] = step.apply(map[0]);
                    answer.complete(map[0]);
                  });
              return answer;
            });
    for (int slot = 0; slot < 5; slot++) {
      int number = slot;
      answers.add(
          changes.change(draft -> draft.begin(number, number == 3 ? 0 : 1)).toCompletableFuture());
    }
    changing.remove(0).run();
    assertThat(map[0].moves()).extracting(Move::slot).containsExactly(0);
    assertThat(answers.get(0)).isCompletedWithValue(map[0]);
    assertThat(answers.get(1)).isNotDone();
    changing.remove(0).run();
    assertThat(changing).isEmpty();
    assertThat(map[0].epoch()).isEqualTo(3);
    assertThat(map[0].moves()).extracting(Move::slot).containsExactly(0, 1, 2, 4);
    assertThat(map[0].moves()).extracting(Move::epoch).containsExactly(2L, 3L, 3L, 3L);
    assertThat(answers).allMatch(CompletableFuture::isDone);
  }
}
