package dev.weir.cluster.internal.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Fingerprint;
import dev.weir.cluster.Await;
import dev.weir.cluster.ClusterStatus.MemberStatus;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.forming.LevelRaise;
import dev.weir.cluster.internal.log.InstantLedger;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.RatisEngine;
import dev.weir.cluster.internal.log.RatisSettings;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.map.Maps;
import dev.weir.cluster.internal.map.Roster;
import dev.weir.cluster.internal.operating.GroupCounters;
import dev.weir.cluster.internal.state.ClusterPolicy;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.Entries;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.GroupMachine;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.testkit.FakeTicker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The level in force: its raise in a group, and the stop of a member that does not understand it.
 */
class LevelsTest {
  private static final int NEXT = Levels.HERE.most();
  private static final int BEYOND = NEXT + 1;
  private static final Levels OLD = new Levels(Levels.FIRST, Levels.FIRST);

  @TempDir private Path folder;

  private static Replica replica(Levels able) {
    return new Replica(
            Fingerprint.seeded(1, 2), new ClusterTime(new FakeTicker()), Runnable::run, line -> {})
        .beginningWith(Maps.of(1, "a", "b"))
        .understanding(able);
  }

  private static byte[] decide() {
    ClusterPolicy policy =
        ClusterPolicy.of("log", Policies.of(Algorithm.SLIDING_WINDOW_LOG, 10, Policies.SECOND));
    return Entries.entry(Entries.decideOne(policy, 7, 1, 1));
  }

  private Path image(Replica replica, String name) throws IOException {
    Path file = folder.resolve(name);
    replica.image(file).toCompletableFuture().join();
    return file;
  }

  @Test
  void entry_raisesTheLevel_andNeverLowersIt() {
    Replica replica = replica(Levels.HERE);
    assertThat(replica.level()).isEqualTo(Levels.FIRST);
    ByteReader reply = new ByteReader(replica.apply(1, Entry.level(NEXT)), Long.BYTES);
    assertThat(reply.readNumber()).isEqualTo(NEXT);
    byte[] lower = replica.apply(2, Entry.level(Levels.FIRST));
    assertThat(new ByteReader(lower, Long.BYTES).readNumber()).isEqualTo(NEXT);
    assertThat(replica.level()).isEqualTo(NEXT);
  }

  @Test
  void entryBeyondWhatIsUnderstood_stopsBeforeItChangesAnything() throws Exception {
    Replica replica = replica(OLD);
    replica.apply(1, decide());
    byte[] before = Files.readAllBytes(image(replica, "before"));
    assertThatThrownBy(() -> replica.apply(2, Entry.level(NEXT)))
        .isInstanceOf(LevelException.class)
        .hasMessage(
            "entry: level 3 (expected: one of levels 1..1): this version of Weir is too old for"
                + " it");
    byte[] unknown = Entry.probe();
    unknown[Ledger.STAMP_BYTES] = (byte) (Entry.MOST_KIND + 1);
    assertThatThrownBy(() -> replica.apply(2, unknown))
        .isInstanceOf(LevelException.class)
        .hasMessageContaining("too old");
    assertThat(Files.readAllBytes(image(replica, "after"))).isEqualTo(before);
  }

  @Test
  void imageOfAHigherLevel_isRead_orStopsTheMember() throws Exception {
    Replica replica = replica(Levels.HERE);
    replica.apply(1, decide());
    replica.apply(2, Entry.level(NEXT));
    Path image = image(replica, "image");
    Replica restored = replica(Levels.HERE);
    restored.restore(image);
    assertThat(restored.level()).isEqualTo(NEXT);
    assertThat(Files.readAllBytes(image(restored, "again"))).isEqualTo(Files.readAllBytes(image));
    Replica old = replica(OLD);
    assertThatThrownBy(() -> old.restore(image))
        .isInstanceOf(LevelException.class)
        .hasMessageStartingWith("image of a group: level 3 (expected: one of levels 1..1)");
    assertThat(old.store().keys()).isZero();
  }

  @Test
  void mapOfAHigherLevelThanItsGroup_makesNoSense() {
    Replica replica = replica(Levels.HERE);
    ClusterMap first = Maps.of(1, "a", "b");
    byte[] entry = Entry.map(1, first.at(NEXT));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> replica.apply(1, entry.clone()))
        .withMessage("map of level 3 (expected: at most 1, the group's)");
    replica.apply(2, Entry.level(NEXT));
    assertThat(CurrentMap.inForce(replica.apply(3, entry.clone()))).isEqualTo(first.at(NEXT));
    ClusterMap lower =
        ClusterMap.builder(Levels.FIRST, 3)
            .members(first.members())
            .replicas(first.replicas())
            .slots(first.slots())
            .build();
    assertThat(CurrentMap.inForce(replica.apply(4, Entry.map(2, lower))))
        .as("it is not lowered")
        .isEqualTo(first.at(NEXT));
  }

  @Test
  void map_isReadWithItsLevel_orRefused() {
    ClusterMap next = Maps.of(2, "a", "b").at(NEXT);
    ClusterMap read = ClusterMap.read(new ByteReader(next.toBytes(), 0));
    assertThat(read).isEqualTo(next);
    assertThat(read.level()).isEqualTo(NEXT);
    assertThat(Roster.removed(read, "b").level()).isEqualTo(NEXT);
    byte[] beyond = next.at(BEYOND).toBytes();
    assertThatThrownBy(() -> ClusterMap.read(new ByteReader(beyond, 0)))
        .isInstanceOf(LevelException.class)
        .hasMessage(
            "map: level 4 (expected: one of levels 1..3): this version of Weir is too old for it");
  }

  @Test
  void folder_isOfALevel_andAnOlderVersionDoesNotStartOnIt() throws Exception {
    UUID incarnation = Identity.of(folder, "a");
    assertThat(Identity.level(folder, OLD)).isEqualTo(Levels.FIRST);
    Identity.raise(folder, NEXT);
    Identity.raise(folder, Levels.FIRST);
    assertThat(Identity.level(folder, Levels.HERE)).isEqualTo(NEXT);
    assertThat(Identity.of(folder, "a")).isEqualTo(incarnation);
    assertThatThrownBy(() -> Identity.level(folder, OLD))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is of level 3 (expected: one of levels 1..1)");
  }

  /** Damaged images are put aside; an image that is too new is not damaged, and stays. */
  @Test
  void groupWithATooNewImage_isNotOpened_andTheImageStays() throws Exception {
    open(Levels.HERE, Entry.level(NEXT), decide());
    assertThatThrownBy(() -> open(OLD))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("image of a group: level 3 (expected: one of levels 1..1)");
    try (var files = Files.walk(folder)) {
      assertThat(files.map(each -> each.getFileName().toString()))
          .noneMatch(each -> each.endsWith(".bad"));
    }
    open(Levels.HERE, decide());
  }

  /** Opens a group of one member, appends entries, and closes it. */
  private void open(Levels able, byte[]... entries) throws Exception {
    PeerLoops loops = new PeerLoops(2);
    PeerSelf self = new PeerSelf("a", Member.NONE, UUID.randomUUID(), () -> PeerSelf.FORMING);
    PeerDoor door =
        new PeerDoor(
            self,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            loops,
            null,
            line -> {});
    PeerTransport transport = new PeerTransport(self, door, loops, null, line -> {});
    RatisEngine engine =
        new RatisEngine(
            transport,
            RatisSettings.in(folder.resolve("groups"))
                .withSnapshots(1, 4 << 20)
                .withElection(Duration.ofMillis(100), Duration.ofMillis(200)));
    try {
      Member member = new Member("a", "127.0.0.1", door.address().getPort());
      Replica replica = replica(able);
      ClusterTime time = new ClusterTime(new FakeTicker());
      Ledger ledger =
          engine.open(
              0,
              List.of(member),
              new GroupMachine(replica, time, new GroupCounters(new FakeTicker()), line -> {}));
      for (byte[] each : entries) {
        Await.until("a leader", ledger::leads);
        ledger.append(each).toCompletableFuture().join();
      }
      Await.until("an image", () -> entries.length == 0 || !images().isEmpty());
    } finally {
      engine.close();
      door.close();
      loops.close();
    }
  }

  private List<Path> images() throws IOException {
    try (var files = Files.walk(folder)) {
      return files
          .filter(each -> each.getFileName().toString().matches("snapshot\\.\\d+_\\d+"))
          .filter(LevelsTest::complete)
          .toList();
    }
  }

  private static boolean complete(Path image) {
    try {
      return ByteBuffer.wrap(Files.readAllBytes(image)).getInt() == 0x5745494c;
    } catch (IOException e) {
      return false;
    }
  }

  /** A leader of group 0, with the reports of others. */
  private static final class Raising implements LevelRaise.LedGroup {
    final Map<String, MemberStatus> said = new HashMap<>();
    final List<String> log = new ArrayList<>();
    final Replica replica = replica(Levels.HERE);
    final CurrentMap map;
    final InstantLedger ledger;
    final LevelRaise raise;

    Raising() {
      PeerSelf self = new PeerSelf("a", Member.NONE, UUID.randomUUID(), () -> PeerSelf.FORMING);
      map =
          new CurrentMap(
              "a", new PeerTransport(self, null, new PeerLoops(1), null, log::add), next -> {});
      map.offer(Maps.of(1, "a", "b"));
      ClusterTime time = new ClusterTime(new FakeTicker());
      ledger =
          new InstantLedger(
              new GroupMachine(
                  replica, time, new GroupCounters(new FakeTicker()), log::add, map::offer),
              true);
      raise =
          new LevelRaise(
              Levels.HERE,
              map,
              name -> CompletableFuture.completedStage(said.get(name)),
              3,
              log::add);
      says("a", NEXT, Map.of());
      says("b", NEXT, Map.of());
    }

    void says(String name, int most, Map<String, Integer> servers) {
      String incarnation = Maps.member(name, "").incarnation().toString();
      said.put(
          name, new MemberStatus(name, incarnation, "", most > 0, "", List.of(), most, servers));
    }

    void rounds(int count) {
      for (int i = 0; i < count; i++) {
        raise.round(this, List.of());
      }
    }

    @Override
    public Ledger ledger() {
      return ledger;
    }

    @Override
    public int level() {
      return replica.level();
    }
  }

  @Test
  void level_isRaisedWhenAllHaveSaidSoLongEnough_firstInTheLogThenInTheMap() {
    Raising all = new Raising();
    all.rounds(2);
    assertThat(all.level()).isEqualTo(Levels.FIRST);
    all.rounds(1);
    assertThat(all.level()).isEqualTo(NEXT);
    assertThat(all.map.get().level()).isEqualTo(Levels.FIRST);
    all.rounds(1);
    assertThat(all.map.get().level()).isEqualTo(NEXT);
    int entries = all.ledger.entries.size();
    all.rounds(5);
    assertThat(all.ledger.entries).as("nothing is left to do").hasSize(entries);
  }

  @Test
  void level_staysWhileOneIsDownOrOlder_andAllHaveToSaySoAnew() {
    Raising all = new Raising();
    for (Runnable hold :
        List.<Runnable>of(
            () -> all.says("b", 0, Map.of()),
            () -> all.says("b", Levels.FIRST, Map.of()),
            () -> all.says("b", NEXT, Map.of("edge", Levels.FIRST)),
            () -> all.said.remove("b"))) {
      all.says("b", NEXT, Map.of());
      all.rounds(2);
      hold.run();
      all.rounds(5);
      assertThat(all.level()).isEqualTo(Levels.FIRST);
    }
    all.says("b", BEYOND, Map.of());
    all.rounds(2);
    assertThat(all.level()).isEqualTo(Levels.FIRST);
    all.rounds(1);
    assertThat(all.level()).as("not more than this member understands").isEqualTo(NEXT);
  }

  @Test
  void otherGroups_followTheMap() {
    Raising zero = new Raising();
    zero.rounds(4);
    Raising other = new Raising();
    zero.raise.round(null, List.of(other));
    assertThat(other.level()).isEqualTo(NEXT);
  }
}
