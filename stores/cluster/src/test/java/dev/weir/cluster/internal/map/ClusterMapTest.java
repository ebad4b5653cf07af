package dev.weir.cluster.internal.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weir.Fingerprint;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.ClusterMap.Move;
import dev.weir.cluster.internal.map.ClusterMap.Step;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.LevelException;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The map, its written form, and its place in the state of group 0. */
class ClusterMapTest {
  private static final Step[] STEPS = Step.values();
  private static final ClusterMap FIRST = Maps.of(3, "a", "b", "c");

  private static Replica replica() {
    return new Replica(
            Fingerprint.seeded(1, 2), new ClusterTime(new FakeTicker()), Runnable::run, line -> {})
        .beginningWith(FIRST);
  }

  private static ClusterMap random(SplittableRandom random) {
    List<Member> members = new ArrayList<>();
    for (int i = random.nextInt(1, 9); i > 0; i--) {
      UUID incarnation = new UUID(random.nextLong(), random.nextLong());
      members.add(
          new Member("m" + i, "höst-" + i, i, incarnation, random.nextBoolean() ? "" : "z"));
    }
    List<List<String>> replicas = new ArrayList<>();
    for (int i = random.nextInt(1, 20); i > 0; i--) {
      replicas.add(
          members.stream().map(Member::name).filter(each -> random.nextBoolean()).toList());
    }
    short[] slots = new short[ClusterMap.SLOTS];
    short group = 0;
    for (int i = 0; i < slots.length; i++) {
      group = random.nextInt(4) > 0 ? group : (short) random.nextInt(replicas.size());
      slots[i] = group;
    }
    List<Move> moves = new ArrayList<>();
    for (int i = replicas.size() < 2 ? 0 : random.nextInt(3); i > 0; i--) {
      moves.add(new Move(i, 0, 1, random.nextLong(9), STEPS[random.nextInt(3)]));
    }
    List<List<Member>> founders = new ArrayList<>();
    for (int i = random.nextInt(replicas.size()); i > 0; i--) {
      founders.add(members.subList(0, random.nextInt(members.size())));
    }
    return ClusterMap.builder(Levels.SLOT_MOVES, random.nextLong(1L << 50))
        .copies(random.nextInt(1, 6))
        .members(members)
        .replicas(replicas)
        .founders(founders)
        .slots(slots)
        .moves(moves)
        .build();
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void randomMaps_areReadAsWritten() {
    int runs = Trials.runs(150, 500);
    SplittableRandom random = Trials.random("maps", runs);
    for (int i = 0; i < runs; i++) {
      ClusterMap map = random(random);
      ByteReader in = new ByteReader(map.toBytes(), 0);
      ClusterMap read = ClusterMap.read(in);
      assertThat(in.atEnd()).isTrue();
      assertThat(read).isEqualTo(map);
      assertThat(read.members()).isEqualTo(map.members());
      assertThat(read.replicas()).isEqualTo(map.replicas());
      assertThat(read.slots()).isEqualTo(map.slots());
      assertThat(read.moves()).isEqualTo(map.moves());
    }
  }

  /** Members may come and go: the founders of a group stay the same. */
  @Test
  void addedGroup_keepsItsFounders() {
    ClusterMap more = Roster.raised(FIRST.at(Levels.SLOT_MOVES), 5);
    assertThat(more.groups()).isEqualTo(5);
    assertThat(more.slots()).isEqualTo(FIRST.slots());
    assertThat(more.founders(2)).as("of the charter").isEmpty();
    assertThat(more.founders(4)).isEqualTo(FIRST.members());
    ClusterMap later = Roster.joined(more, Maps.member("d", ""));
    later = Roster.raised(Roster.removed(later, "a"), 6);
    assertThat(later.founders(4)).isEqualTo(FIRST.members());
    assertThat(later.founders(5)).extracting(Member::name).containsExactly("b", "c", "d");
    assertThat(ClusterMap.read(new ByteReader(later.toBytes(), 0)).founders(5))
        .isEqualTo(later.founders(5));
    assertThat(Roster.raised(later, 6)).isSameAs(later);
    ClusterMap last = later;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Roster.raised(last, 5))
        .withMessage("groups: 5 (expected: 6..256, as many as there are or more)");
  }

  @Test
  void oneGroup_isWrittenShortly() {
    assertThat(Maps.of(1, "a", "b", "c").toBytes()).hasSizeLessThan(150);
  }

  /** Every cut and many changed bytes: each is refused, or another valid map. */
  @Tag("model")
  @Tag("sample")
  @Test
  void damagedEntries_areRefusedOrMakeSense_andChangeNothingIfRefused() {
    int runs = Trials.runs(1_000, 4_000);
    SplittableRandom random = Trials.random("damaged maps", runs);
    byte[] entry = Entry.map(FIRST.epoch(), FIRST.with(FIRST.members(), FIRST.replicas()));
    for (int i = 0; i < runs; i++) {
      byte[] damaged = entry.clone();
      if (random.nextBoolean()) {
        damaged = Arrays.copyOf(damaged, random.nextInt(Ledger.STAMP_BYTES, entry.length));
      } else {
        int reach = random.nextBoolean() ? 200 : entry.length;
        damaged[random.nextInt(Ledger.STAMP_BYTES, reach)] = (byte) random.nextInt();
      }
      Replica replica = replica();
      try {
        byte[] reply = replica.apply(1, damaged);
        if (damaged[Ledger.STAMP_BYTES] == Entry.MAP) {
          assertThat(CurrentMap.inForce(reply)).isEqualTo(replica.map());
        }
      } catch (IllegalArgumentException | LevelException e) {
        assertThat(replica.map()).isEqualTo(FIRST);
      }
    }
  }

  @Test
  void map_isPutInForceOnce_byTheFirstThatKnewTheOneBefore() {
    Replica replica = replica();
    ClusterMap next = FIRST.with(FIRST.members(), List.of(List.of("a"), List.of("b"), List.of()));
    ClusterMap other = FIRST.with(FIRST.members(), List.of(List.of("c"), List.of(), List.of("b")));
    assertThat(CurrentMap.inForce(replica.apply(1, Entry.map(1, next)))).isEqualTo(next);
    assertThat(CurrentMap.inForce(replica.apply(2, Entry.map(1, other)))).isEqualTo(next);
    assertThat(replica.map()).isEqualTo(next);
    assertThat(
            CurrentMap.inForce(replica.apply(3, Entry.map(2, next.with(next.slots(), List.of())))))
        .extracting(ClusterMap::epoch)
        .isEqualTo(3L);
  }

  /** The sums of replicas include the map, so that two of them cannot differ in it. */
  @Test
  void otherMap_givesAnotherSum() {
    Replica one = replica();
    Replica other = replica();
    byte[] unused = one.apply(1, Entry.map(1, FIRST.with(FIRST.members(), FIRST.replicas())));
    unused =
        other.apply(
            1,
            Entry.map(
                0,
                ClusterMap.builder(Levels.FIRST, 1)
                    .members(FIRST.members())
                    .replicas(FIRST.replicas())
                    .slots(FIRST.slots())
                    .build()));
    unused = one.apply(2, Entry.tick(0, 0));
    unused = other.apply(2, Entry.tick(0, 0));
    assertThat(one.lastTick().sum()).isNotEqualTo(other.lastTick().sum());
  }

  @Test
  void image_hasTheMap(@TempDir Path folder) throws Exception {
    Replica replica = replica();
    ClusterMap next = FIRST.with(FIRST.members(), List.of(List.of("a"), List.of("b"), List.of()));
    byte[] unused = replica.apply(1, Entry.map(1, next));
    Path file = folder.resolve("image");
    Object done = replica.image(file).toCompletableFuture().get();
    Replica restored = replica();
    restored.restore(file);
    assertThat(restored.map()).isEqualTo(next);
    assertThat(done).isNull();
  }

  @Test
  void groupWithoutAMap_refusesOne() {
    Replica replica =
        new Replica(
            Fingerprint.seeded(1, 2), new ClusterTime(new FakeTicker()), Runnable::run, line -> {});
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                replica.apply(
                    1, Entry.map(FIRST.epoch(), FIRST.with(FIRST.members(), FIRST.replicas()))));
    assertThat(replica.map()).isNull();
  }

  @Test
  void contradictions_areRefused() {
    List<Member> twice = List.of(Maps.member("a", ""), Maps.member("a", "z"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FIRST.with(twice, FIRST.replicas()))
        .withMessageContaining("two members of one name");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FIRST.with(FIRST.members(), List.of(List.of("nobody"))));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FIRST.with(FIRST.slots(), List.of(new Move(1, 2, 2, 1, Step.MOVING))));
    short[] beyond = FIRST.slots();
    beyond[7] = 3;
    assertThatIllegalArgumentException().isThrownBy(() -> FIRST.with(beyond, List.of()));
    assertThat(Objects.requireNonNull(FIRST.member("a")).name()).isEqualTo("a");
    assertThat(FIRST.member("nobody")).isNull();
  }
}
