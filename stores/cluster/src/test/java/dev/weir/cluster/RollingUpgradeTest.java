package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.cluster.internal.peer.Identity;
import dev.weir.cluster.internal.peer.Levels;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Members of an older version and of this one in one cluster. The older one is this version limited
 * to level 2, the formats of whose first level {@link GoldenBytesTest} keeps unchanged.
 */
@Tag("live")
class RollingUpgradeTest {
  private static final int OLD = 2;
  private static final int NEW = 3;

  @TempDir private Path folder;
  private LiveMembers live;
  private CountedLoad load;

  @BeforeEach
  void choosePorts() throws IOException {
    live = new LiveMembers(folder, 2, 1);
    load = new CountedLoad(live.stores.values());
  }

  @AfterEach
  void stop() {
    load.close();
    live.close();
  }

  private void start(String name, int most) throws Exception {
    live.start(name, name, most);
  }

  private void restart(String name, int most) throws Exception {
    live.end(name);
    start(name, most);
    live.healthy();
  }

  private ClusterStatus status() {
    return live.any().status();
  }

  /** Waits until all members, and all of their groups, are at a level. */
  private void level(int level) throws Exception {
    Await.until(
        "level " + level + "; " + live.log,
        () ->
            live.clusters.values().stream()
                .allMatch(
                    each -> each.status().level() == level && each.levels().equals(Set.of(level))));
  }

  /** Checks that nothing is beyond a level; a member that has restarted comes to it by its log. */
  private void notBeyond(int level) throws Exception {
    assertThat(live.clusters.values())
        .allSatisfy(each -> assertThat(each.levels()).allMatch(own -> own <= level));
    level(level);
  }

  /** Waits until exactly these reasons are given for which the next level is not in force. */
  private void waitsFor(String... reasons) throws Exception {
    Await.until(
        () -> "the level to wait for " + List.of(reasons) + "; " + live.log,
        () -> status().levelWaitsFor().equals(List.of(reasons)));
  }

  @Test
  void membersRestartedOneByOne_raiseTheLevelByThemselves_andTheLimitHolds() throws Exception {
    live.startAll(OLD, LiveMembers.NAMES);
    level(OLD);
    load.start();
    restart("a", NEW);
    restart("b", NEW);
    waitsFor("c understands no more than level 2");
    restart("a", OLD); // It may go back as long as one of them is old.
    notBeyond(OLD);
    restart("a", NEW);
    restart("c", NEW);
    level(NEW);
    live.sameEverywhere(2);
    waitsFor();

    assertThatThrownBy(() -> start("d", OLD))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "cluster: this member was refused: hello of d: it understands levels 1..2 (expected:"
                + " one of levels 3..3): its version of Weir is too old for this cluster");
    live.end("c");
    Await.until("a note", () -> Identity.level(folder.resolve("c"), Levels.HERE) == NEW);
    assertThatThrownBy(() -> start("c", OLD))
        .isInstanceOf(IOException.class)
        .hasMessage(
            folder.resolve("c")
                + " is of level 3 (expected: one of levels 1..2): this version of Weir is too old"
                + " for it");
    start("c", NEW);
    live.healthy();
    level(NEW);
    live.sameEverywhere(2);
    load.check();
  }

  @Test
  void serverThatIsNoMember_holdsTheLevelBack_untilItIsGone() throws Exception {
    ClusterClient old =
        ClusterClient.builder("edge", live.seeds())
            .able(new Levels(Levels.FIRST, OLD))
            .log(live.log::add)
            .open();
    try {
      live.startAll(OLD, LiveMembers.NAMES);
      old.join();
      level(OLD);
      for (String each : List.of("a", "b", "c")) {
        restart(each, NEW);
      }
      waitsFor("the server edge understands no more than level 2");
      notBeyond(OLD);
    } finally {
      old.close();
    }
    level(NEW);
    ClusterClient again =
        ClusterClient.builder("edge", List.of(live.address("a")))
            .able(new Levels(Levels.FIRST, OLD))
            .log(live.log::add)
            .open();
    Thread joining =
        new Thread(
            () -> {
              try {
                again.join();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "join");
    joining.start();
    try {
      Await.until(
          () -> "a refusal; " + live.log,
          () ->
              live.log.stream()
                  .anyMatch(
                      line ->
                          line.contains(
                              "it refuses: hello of edge: it understands levels 1..2 (expected: one"
                                  + " of levels 3..3): its version of Weir is too old")));
    } finally {
      joining.interrupt();
      joining.join();
      again.close();
    }
    try (ClusterClient able =
        ClusterClient.builder("edge", live.seeds()).log(live.log::add).open()) {
      able.join();
      assertThat(able.epoch()).isGreaterThan(1);
    }
  }
}
