package dev.weir.cluster.internal.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.cluster.Await;
import dev.weir.cluster.Calm;
import dev.weir.cluster.Trio;
import dev.weir.cluster.internal.log.HashMachine.Applied;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.Wires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.protocol.exceptions.ReconfigurationTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members that are started again from their disks. */
@Tag("live")
class RatisRestartTest {
  /** Small enough for several snapshots and files of the log in some hundred entries. */
  private static final int SNAPSHOT_BYTES = 32 << 10;

  private static final int SEGMENT_BYTES = 16 << 10;
  private static final int ENTRY_BYTES = 1_000;

  @TempDir Path folder;

  private long ids;

  private static RatisSettings small(RatisSettings settings) {
    return settings.withSnapshots(SNAPSHOT_BYTES, SEGMENT_BYTES);
  }

  private void append(Trio trio, int entries) throws Exception {
    for (int i = 0; i < entries; i++) {
      trio.append(++ids, ENTRY_BYTES);
    }
  }

  private static void checkAll(List<Applied> applied, long ids) {
    Set<Long> seen = applied.stream().map(Applied::id).collect(Collectors.toSet());
    for (long id = 1; id <= ids; id++) {
      assertThat(seen).contains(id);
    }
  }

  private Path groupFolder(Trio trio, int i) throws IOException {
    try (Stream<Path> groups = Files.list(trio.folder(i))) {
      return groups.findFirst().orElseThrow();
    }
  }

  /** Returns the snapshots of a member, the newest first. */
  private List<Path> snapshots(Trio trio, int i) throws IOException {
    try (Stream<Path> files = Files.list(groupFolder(trio, i).resolve("sm"))) {
      return files
          .filter(file -> file.getFileName().toString().matches("snapshot\\.\\d+_\\d+"))
          .sorted(
              Comparator.comparing(
                      (Path file) -> Long.valueOf(file.toString().replaceAll(".*_", "")))
                  .reversed())
          .toList();
    }
  }

  private long firstInLog(Trio trio, int i) throws IOException {
    try (Stream<Path> files = Files.list(groupFolder(trio, i).resolve("current"))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.startsWith("log_"))
          .mapToLong(name -> Long.parseLong(name.replaceAll("log_(inprogress_)?(\\d+).*", "$2")))
          .min()
          .orElseThrow();
    }
  }

  private static void damage(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 1;
    Files.write(file, bytes);
  }

  @Test
  void oneAndAll_goOnFromTheirFolders() throws Exception {
    try (Trio trio = new Trio(folder, RatisRestartTest::small, null)) {
      append(trio, 20);
      int follower = (trio.leader() + 1) % 3;
      trio.stop(follower);
      append(trio, 5);
      trio.start(follower);
      checkAll(trio.settle(), ids);
      for (int i = 0; i < 3; i++) {
        trio.stop(i);
      }
      for (int i = 0; i < 3; i++) {
        trio.start(i);
      }
      append(trio, 5);
      checkAll(trio.settle(), ids);
      // An entry that was sent twice to a member is applied once.
      assertThat(trio.node(0).machine().applied().stream().map(Applied::id).filter(id -> id > 0))
          .doesNotHaveDuplicates();
    }
  }

  @Test
  void aMemberThatMissedWhatWasPurged_isGivenASnapshot_andADamagedOneIsReplaced() throws Exception {
    try (Trio trio = new Trio(folder, RatisRestartTest::small, null)) {
      append(trio, 10);
      int missing = (trio.leader() + 1) % 3;
      trio.stop(missing);
      append(trio, 150);
      int leader = trio.leader();
      Await.until("the log to be purged", () -> firstInLog(trio, leader) > 20);
      Await.until("two snapshots", () -> snapshots(trio, leader).size() == 2);
      trio.start(missing);
      checkAll(trio.settle(), ids);
      assertThat(trio.node(missing).machine().restores()).isPositive();
      assertThat(snapshots(trio, missing)).isNotEmpty();

      // The newest is damaged: the one before it and the log after that are enough.
      int other = 3 - leader - missing;
      Await.until("two snapshots", () -> snapshots(trio, other).size() == 2);
      trio.stop(other);
      damage(snapshots(trio, other).get(0));
      String newest = snapshots(trio, other).get(0).getFileName().toString();
      trio.start(other);
      append(trio, 3);
      checkAll(trio.settle(), ids);
      assertThat(trio.log).anyMatch(line -> line.contains(newest) && line.contains("damaged"));
      assertThat(groupFolder(trio, other).resolve("sm").resolve(newest + ".bad")).exists();

      // None is left, and the log does not reach back to its beginning.
      trio.stop(other);
      for (Path snapshot : snapshots(trio, other)) {
        damage(snapshot);
      }
      for (int twice = 0; twice < 2; twice++) {
        assertThatThrownBy(() -> trio.start(other))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("no good snapshot is left");
      }
    }
  }

  /** They never had the log from its beginning, and were never started again. */
  @Test
  void membersThatJoinedByASnapshot_electALeaderWithoutTheFounder() throws Exception {
    try (Trio trio = new Trio(folder, RatisRestartTest::small, null, 1)) {
      append(trio, 150);
      Await.until("the log to be purged", () -> firstInLog(trio, 0) > 20);
      Ledger founder = trio.node(0).ledger();
      trio.start(1);
      trio.start(2);
      List<Member> joining = List.of(trio.member(1), trio.member(2));
      seat(founder, new Seats(List.of(trio.member(0)), joining, true));
      checkAll(trio.settle(), ids);
      for (int i = 1; i < 3; i++) {
        assertThat(trio.node(i).machine().restores()).isPositive();
      }
      for (int voters = 2; voters <= 3; voters++) { // One after the other, like the seats.
        List<Member> all = List.of(trio.member(0), trio.member(1), trio.member(2));
        seat(founder, new Seats(all.subList(0, voters), all.subList(voters, 3), true));
        Await.until("the seats", () -> founder.seats().settled());
        append(trio, 1);
      }
      checkAll(trio.settle(), ids);
      trio.stop(0); // It hands nothing over: they have to notice that it is gone.
      append(trio, 5);
      checkAll(trio.settle(), ids);
      // Each of them votes: the founder and the one that did not lead go on.
      int leader = trio.leader();
      trio.start(0);
      checkAll(trio.settle(), ids);
      trio.stop(leader);
      append(trio, 5);
      checkAll(trio.settle(), ids);
    }
  }

  /**
   * Repeats the change, as a member does, if Ratis received too little from new members meanwhile.
   */
  private static void seat(Ledger leader, Seats seats) throws Exception {
    for (int tries = 1; ; tries++) {
      try {
        leader.seat(seats);
        return;
      } catch (ReconfigurationTimeoutException e) {
        if (tries == 3) {
          throw e;
        }
        System.out.println("the seats are asked for again: " + e.getMessage());
      }
    }
  }

  /** Makes the third member listen until it has all entries; returns the leader. */
  private int listened(Trio trio) throws Exception {
    append(trio, 5);
    trio.start(2);
    int leader = trio.leader();
    seat(
        trio.node(leader).ledger(),
        new Seats(List.of(trio.member(0), trio.member(1)), List.of(trio.member(2)), true));
    checkAll(trio.settle(), ids);
    return leader;
  }

  private static Seats all(Trio trio) {
    return new Seats(List.of(trio.member(0), trio.member(1), trio.member(2)), List.of(), true);
  }

  /** A member that listened first, and whose election of a later term no other has noticed. */
  @Test
  void voterOfALaterTerm_hasTheLeaderStepDown() throws Exception {
    Calm.check(folder, this::voteLater);
  }

  private void voteLater(Path own) throws Exception {
    ids = 0;
    try (Wires wires = new Wires();
        Trio trio = new Trio(own, settings -> settings, wires, 2)) {
      Ledger leader = trio.node(listened(trio)).ledger();
      seat(leader, all(trio));
      Await.until("the seats", () -> leader.seats().settled());
      append(trio, 5);
      checkAll(trio.settle(), ids);
      for (int other = 0; other < 2; other++) {
        wires.wire(2, other).set(true, true, 0);
      }
      assertThatThrownBy(() -> leader.transfer(Trio.NAMES.get(2)))
          .hasMessageContaining("did not take over");
      for (int other = 0; other < 2; other++) {
        wires.wire(2, other).cut(); // Its requests are lost, and do not come late.
      }
      wires.heal();
      append(trio, 5);
      checkAll(trio.settle(), ids);
    }
  }

  /** The group has not agreed on its last seats. */
  @Test
  void leaderElectedWhileAListenerBecomesAVoter_leads() throws Exception {
    Calm.check(folder, own -> electMeanwhile(own, true));
  }

  @Test
  void leaderElectedWhileAVoterComes_leads() throws Exception {
    Calm.check(folder, own -> electMeanwhile(own, false));
  }

  private void electMeanwhile(Path own, boolean listens) throws Exception {
    ids = 0;
    try (Wires wires = new Wires();
        Trio trio = new Trio(own, settings -> settings, wires, 2)) {
      int leader = listened(trio);
      int other = 1 - leader;
      Ledger ledger = trio.node(leader).ledger();
      if (!listens) {
        seat(ledger, new Seats(List.of(trio.member(0), trio.member(1)), List.of(), true));
      }
      wires.isolate(other);
      assertThatThrownBy(() -> ledger.seat(all(trio))).isInstanceOf(IOException.class);
      Await.until("nobody to lead", () -> ledger.leader() == null);
      for (int to : new int[] {leader, 2}) { // Held messages are lost.
        wires.wire(other, to).cut();
        wires.wire(to, other).cut();
      }
      wires.heal();
      append(trio, 5);
      checkAll(trio.settle(), ids);
    }
  }

  @Test
  void aTransfer_handsTheLogOver() throws Exception {
    Calm.check(folder, this::handOver);
  }

  private void handOver(Path own) throws Exception {
    ids = 0;
    try (Trio trio = new Trio(own)) {
      append(trio, 3);
      int before = trio.leader();
      int after = (before + 1) % 3;
      trio.node(before).ledger().transfer(Trio.NAMES.get(after));
      Await.until("the other to lead", () -> trio.node(after).ledger().leads());
      append(trio, 3);
      trio.node(after).ledger().transfer(null);
      Await.until("it not to lead", () -> !trio.node(after).ledger().leads());
      append(trio, 3);
      checkAll(trio.settle(), ids);
      // A member that does not lead has nothing to hand over.
      trio.node((trio.leader() + 1) % 3).ledger().transfer(null);
    }
  }
}
