package dev.weir.cluster.internal.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weir.cluster.internal.peer.Member;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The groups of members that come and go. */
class RosterTest {
  private static final int GROUPS = 64;

  private static List<Member> members(int size, int zones) {
    List<Member> members = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      members.add(Maps.member("weir-" + i, zones == 0 ? "" : "zone-" + i % zones));
    }
    return members;
  }

  private static long moved(List<List<String>> before, List<List<String>> after) {
    long moved = 0;
    for (int group = 0; group < before.size(); group++) {
      List<String> had = before.get(group);
      moved += after.get(group).stream().filter(each -> !had.contains(each)).count();
    }
    return moved;
  }

  @Test
  void everyGroup_hasAsManyMembersAsItMay_andNoneTwice() {
    int runs = 300;
    SplittableRandom random = Trials.random("rosters", runs);
    for (int i = 0; i < runs; i++) {
      int size = random.nextInt(1, 20);
      int copies = random.nextInt(1, 6);
      List<Member> members = members(size, random.nextInt(5));
      for (List<String> each : Roster.replicas(members, 9, copies)) {
        assertThat(each).doesNotHaveDuplicates().hasSize(Math.min(size, copies));
      }
    }
  }

  /** One of n + 1 members gets about its share of the replicas, and nothing else moves. */
  @Test
  void memberThatComes_takesItsShare_andNothingElseMoves() {
    for (int size = 3; size < 24; size++) {
      List<Member> before = members(size, 0);
      List<Member> after = members(size + 1, 0);
      List<List<String>> had = Roster.replicas(before, GROUPS, 3);
      List<List<String>> has = Roster.replicas(after, GROUPS, 3);
      String newcomer = "weir-" + size;
      for (int group = 0; group < GROUPS; group++) {
        List<String> others = new ArrayList<>(has.get(group));
        others.remove(newcomer);
        assertThat(had.get(group)).containsAll(others);
      }
      double share = 3.0 * GROUPS / (size + 1);
      assertThat((double) moved(had, has))
          .as("%d members and one more", size)
          .isBetween(share / 3, 2 * share);
    }
  }

  @Test
  void replicas_areSpreadOverZones() {
    for (int zones = 2; zones <= 4; zones++) {
      int all = zones;
      List<Member> members = members(12, zones);
      for (List<String> each : Roster.replicas(members, GROUPS, 3)) {
        long different =
            each.stream()
                .mapToInt(name -> Integer.parseInt(name.substring("weir-".length())) % all)
                .distinct()
                .count();
        assertThat(different).isEqualTo(Math.min(zones, 3));
      }
    }
  }

  @Test
  void memberThatLeaves_isReplaced() {
    ClusterMap map = Maps.of(8, "a", "b", "c");
    ClusterMap four = Roster.joined(map, Maps.member("d", ""));
    assertThat(four.epoch()).isEqualTo(2);
    ClusterMap without = Roster.removed(four, "a");
    assertThat(without.members()).extracting(Member::name).containsExactly("b", "c", "d");
    assertThat(without.replicas()).allSatisfy(each -> assertThat(each).hasSize(3));
    assertThat(Roster.rebalanced(without)).isSameAs(without);
    assertThat(Roster.removed(without, "a")).isSameAs(without);
  }

  @Test
  void onlyMember_stays() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Roster.removed(Maps.of(1, "a"), "a"))
        .withMessageContaining("only member");
  }

  @Test
  void memberWithANewFolder_takesThePlaceOfTheOneBefore() {
    ClusterMap map = Maps.of(2, "a", "b", "c");
    Member old = Objects.requireNonNull(map.member("b"));
    assertThat(Roster.joined(map, old)).isSameAs(map);
    Member fresh = new Member("b", old.host(), old.port(), new UUID(9, 9), old.zone());
    ClusterMap next = Roster.joined(map, fresh);
    assertThat(next.member("b")).isEqualTo(fresh);
    assertThat(next.replicas()).isEqualTo(map.replicas());
    assertThat(next.has("b", old.incarnation())).isFalse();
  }
}
