package dev.weir.cluster.internal.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.cluster.Await;
import dev.weir.cluster.Cluster;
import dev.weir.cluster.ClusterStatus;
import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.ClusterStatus.Health;
import dev.weir.cluster.ClusterStatus.MemberStatus;
import dev.weir.cluster.ClusterStore;
import dev.weir.cluster.CountedLoad;
import dev.weir.cluster.LiveMembers;
import dev.weir.shared.ClusterMember;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members that come, go and are replaced while requests go on. */
@Tag("live")
class MembersTest {
  private static final int GROUPS = 2;

  @TempDir private Path folder;
  private LiveMembers live;
  private CountedLoad load;

  @BeforeEach
  void choosePorts() throws IOException {
    live = new LiveMembers(folder, GROUPS);
    load = new CountedLoad(live.stores.values());
  }

  @AfterEach
  void stop() {
    load.close();
    live.close();
  }

  private void startAll() throws Exception {
    live.startAll(0, LiveMembers.NAMES);
  }

  private void wipe(String name) throws IOException {
    try (Stream<Path> files = Files.walk(folder.resolve(name))) {
      for (Path each : files.sorted((one, other) -> other.compareTo(one)).toList()) {
        Files.delete(each);
      }
    }
  }

  private ClusterStatus status() {
    return live.any().status();
  }

  /** Waits until every member has a map of exactly these. */
  private void members(String... names) throws Exception {
    Await.until(
        "members " + List.of(names),
        () ->
            live.clusters.values().stream()
                .allMatch(
                    each ->
                        each.status().members().stream()
                            .map(MemberStatus::name)
                            .toList()
                            .equals(List.of(names))));
  }

  /** Waits until exactly these members have all groups, and each of them is up. */
  private void voters(String... names) throws Exception {
    TreeSet<String> wanted = new TreeSet<>(List.of(names));
    Await.until(
        "groups of " + wanted,
        () -> {
          ClusterStatus now = status();
          return now.health() == Health.HEALTHY
              && leaders(now).size() == GROUPS
              && leaders(now).stream()
                  .allMatch(each -> new TreeSet<>(each.voterNames()).equals(wanted));
        });
  }

  private static List<GroupStatus> leaders(ClusterStatus now) {
    return now.members().stream()
        .flatMap(each -> each.groups().stream())
        .filter(GroupStatus::leads)
        .toList();
  }

  @Test
  void fourthMember_joins_andTakesPart() throws Exception {
    startAll();
    load.start();
    live.start("d");
    members("a", "b", "c", "d");
    live.healthy();
    assertThat(status().replicas()).allSatisfy(each -> assertThat(each).hasSize(3));
    live.sameEverywhere(GROUPS);
    load.check();
  }

  @Test
  void memberWhoseFolderIsLost_isReplaced_andItsOldIdNeverComesBack() throws Exception {
    startAll();
    load.start();
    String before = incarnation("c");
    live.end("c");
    wipe("c");
    live.start("c");
    voters("a", "b", "c");
    assertThat(incarnation("c")).isNotEqualTo(before);
    assertThat(leaders(status()))
        .allSatisfy(each -> assertThat(each.voters()).doesNotContain("c@" + before));
    assertThat(live.log).anyMatch(line -> line.contains("c has a new folder"));
    live.sameEverywhere(GROUPS);
    live.end("a"); // The new one is a voter: it and b are a majority.
    Await.until(
        "b and c to decide", () -> live.stores.values().stream().allMatch(ClusterStore::available));
    load.check();
  }

  /** It was no voter when it started, and is one when the leader is gone. */
  @Test
  void memberThatIsRestartedWhileItListens_isElectedOrElectsLater() throws Exception {
    startAll();
    live.end("c");
    wipe("c");
    live.start("c");
    Await.until(
        "c to listen",
        () -> leaders(status()).stream().anyMatch(each -> each.listenerNames().contains("c")));
    live.end("c");
    live.start("c");
    voters("a", "b", "c");
    for (String each : List.of("a", "b")) {
      live.end(each);
      Await.until("two leaders without " + each, () -> leaders(status()).size() == 2);
      live.start(each);
      live.healthy();
    }
  }

  private String incarnation(String name) {
    return status().members().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow()
        .incarnation();
  }

  @Test
  void memberThatIsDown_isRemoved_andTheOthersGoOn() throws Exception {
    startAll();
    live.start("d");
    members("a", "b", "c", "d");
    live.healthy();
    load.start();
    live.end("c");
    Cluster a = Objects.requireNonNull(live.clusters.get("a"));
    Await.until("c to be down", () -> a.status().health() == Health.DEGRADED);
    assertThatThrownBy(() -> a.remove("b", false)).hasMessageContaining("b is up");
    assertThatThrownBy(() -> a.remove("x", false)).hasMessageContaining("is no member");
    Await.until(() -> "c to be removed; " + live.log, () -> removed(a, "c"));
    voters("a", "b", "d");
    live.sameEverywhere(GROUPS);
    load.check();
    for (String each : List.of("a", "b", "d")) {
      live.end(each);
    }
    live.startAll(0, List.of("a", "b", "d")); // Including d, which did not form it.
    voters("a", "b", "d");
  }

  /** Removes a member if it is one; returns false while no member leads group 0. */
  private boolean removed(Cluster by, String name) {
    try {
      if (by.status().members().stream().anyMatch(each -> each.name().equals(name))) {
        by.remove(name, false);
      }
      return true;
    } catch (IOException e) {
      live.log.add(String.valueOf(e.getMessage()));
      return false;
    }
  }

  @Test
  void secondMemberOfAName_isRefused_whileTheFirstRuns() throws Exception {
    startAll();
    ClusterMember first = live.address("c");
    int port = live.address("d").port();
    live.addresses.put("c", new ClusterMember("c", first.host(), port));
    for (String leader : List.of("a", "c")) { // Another one also asks a leader of its own name.
      Await.until(leader + " leads", () -> leads0(leader));
      assertThatThrownBy(() -> live.start("c", "another", 0))
          .hasMessageContaining("another member of the name c runs at");
    }
    live.addresses.put("c", first);
    assertThat(live.log).anyMatch(line -> line.contains("was refused"));
    live.healthy();
  }

  private boolean leads0(String name) {
    try {
      Objects.requireNonNull(live.clusters.get("b")).transfer(0, name);
    } catch (IOException e) {
      return false; // None leads now, or the takeover was late.
    }
    return true;
  }

  @Test
  void joinGoesOn_whenWhoLedGroup0IsGone() throws Exception {
    startAll();
    load.start();
    String leader = live.leader(0);
    live.start("d"); // It is in the map, and has not caught up yet.
    live.end(leader);
    Await.until("another leader", () -> leaders(status()).size() == 2);
    live.start(leader);
    members("a", "b", "c", "d");
    live.healthy();
    live.sameEverywhere(GROUPS);
    load.check();
  }

  @Test
  void rollingRestart_duringAJoin_losesNothing() throws Exception {
    startAll();
    load.start();
    live.start("d");
    for (String each : List.of("a", "b", "c", "d")) {
      live.end(each);
      live.start(each);
      live.healthy();
    }
    live.sameEverywhere(GROUPS);
    load.check();
  }
}
