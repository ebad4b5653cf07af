package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.cluster.internal.map.Placement;
import dev.weir.testkit.Trials;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Slots that move between the groups of whole members while requests go on. */
@Tag("live")
class LiveSlotsTest {
  private static final int LIMIT = 5;
  private static final int KEYS = 80;

  /**
   * A policy whose window is longer than any test, so that the admitted permits of a key can be
   * counted.
   */
  private static final Policy LONG = Policies.of(Algorithm.SLIDING_WINDOW_LOG, LIMIT, 1L << 42);

  @TempDir private Path folder;

  /** The outcomes of the requests for some keys. */
  private static final class Asked {
    final int[] admitted = new int[KEYS];

    /** The requests of which it is not known whether they were charged. */
    final int[] uncertain = new int[KEYS];

    void request(LiveMembers members, int times) throws Exception {
      members.ready();
      List<ClusterStore> all = new ArrayList<>(members.stores.values());
      for (int i = 0; i < KEYS * times; i++) {
        Charges answer = request(all.get(i % all.size()), "key " + i % KEYS);
        admitted[i % KEYS] += answer.allowed() ? 1 : 0;
        if (answer.reason(0) == Reason.UNCERTAIN) {
          uncertain[i % KEYS]++;
          members.ready(); // The machine may have stood still, and another member leads.
        }
      }
    }

    private static Charges request(ClusterStore store, String key) {
      Binding binding = store.bind("long", LONG, 0);
      Charges asked = new Charges().add(binding, store.fingerprint().of(key), 1);
      CompletableFuture<Charges> answer = new CompletableFuture<>();
      store.decide(asked, Ticker.system().nanos(), answer::complete);
      return answer.join();
    }

    /**
     * Checks the admitted permits of each key: that many, or fewer if some charges are uncertain.
     */
    void check(int most) {
      for (int i = 0; i < KEYS; i++) {
        assertThat(admitted[i]).as("key %d", i).isBetween(most - uncertain[i], most);
      }
      assertThat(Arrays.stream(uncertain).sum()).as("uncertain").isLessThan(KEYS);
    }
  }

  @Test
  void groups_areRaised_andTheirSlotsMove_withinLimits() throws Exception {
    try (LiveMembers members = new LiveMembers(folder, 1)) {
      members.startAll();
      members.guest("edge");
      assertThatThrownBy(() -> members.any().raiseGroups(0)).isInstanceOf(IOException.class);
      Asked asked = new Asked();
      asked.request(members, 3);
      asked.check(3);
      try (LiveLoad load = new LiveLoad(members.stores.values(), Trials.random("raised"))) {
        for (int groups : new int[] {2, 4}) {
          members.raise(groups);
          members.settled();
          Placement wanted = new Placement(groups);
          for (int group = 0; group < groups; group++) {
            assertThat(members.any().slots().slots().get(group)).isEqualTo(wanted.slots(group));
          }
        }
        load.check();
      }
      asked.request(members, 4);
      asked.check(LIMIT);
      assertThat(members.log).noneMatch(line -> line.contains("other counts"));
    }
  }

  /** The leader of the map, or of a group, is stopped while slots are moving. */
  @Test
  void movesGoOn_whoeverStops() throws Exception {
    try (LiveMembers members = new LiveMembers(folder, 2)) {
      members.startAll();
      Asked asked = new Asked();
      asked.request(members, 3);
      asked.check(3);
      try (LiveLoad load = new LiveLoad(members.stores.values(), Trials.random("stopped"))) {
        for (int added = 2; added < 4; added++) {
          members.raise(added + 1);
          Await.until(
              "slots on their way, or over it",
              () ->
                  !members.any().slots().moves().isEmpty() || members.any().slots().toMove() == 0);
          // First the member that moves slots, and gives some; then the one that takes them.
          String leader = members.leader(added == 2 ? 0 : added);
          members.end(leader);
          Await.until(
              "another leader; " + members.log,
              () -> members.any().status().health() == ClusterStatus.Health.DEGRADED);
          members.start(leader);
          members.healthy();
        }
        members.settled();
        load.check();
      }
      asked.request(members, 4);
      asked.check(LIMIT);
      assertThat(members.log).noneMatch(line -> line.contains("other counts"));
    }
  }
}
