package dev.weir.cluster.internal.operating;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.ClusterStatus;
import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.ClusterStatus.Health;
import dev.weir.cluster.ClusterStatus.MemberStatus;
import dev.weir.cluster.SlotsStatus;
import dev.weir.cluster.internal.map.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The health of a cluster of one group, and the members that may be removed from it. */
class ClusterStatusTest {
  private static final List<String> VOTERS = List.of("a@1", "b@1", "c@1");

  private static GroupStatus replica(
      String leader, boolean leads, List<String> voters, List<String> listeners) {
    return new GroupStatus(
        0, leader, leads, 1, 9, 9, 0, 0, 0, 0, 0, 0, false, 0, 0, false, 0, voters, listeners, true,
        false);
  }

  /** A leader that ends now may leave behind a change that needs voters of before to agree. */
  @Test
  void changeOfVoters_isNotHealthyUntilAllAgree() {
    GroupStatus changing =
        new GroupStatus(
            0, "a", true, 1, 9, 9, 0, 0, 0, 0, 0, 0, false, 0, 0, false, 0, VOTERS, List.of(),
            false, false);
    MemberStatus a = new MemberStatus("a", "1", "", true, "", List.of(changing), 1, Map.of());
    MemberStatus b = up("b", VOTERS, List.of());
    assertThat(of(List.of("a", "b", "c"), a, b, up("c", VOTERS, List.of())).health())
        .isEqualTo(Health.DEGRADED);
  }

  @Test
  void leaderWhoseDiskStalls_leavesItsGroupUnanswered_alsoAfterItsReportWasSent() {
    GroupStatus stalled =
        new GroupStatus(
            0, "a", true, 1, 9, 9, 0, 0, 0, 0, 0, 0, false, 0, 0, false, 0, VOTERS, List.of(), true,
            true);
    MemberStatus a = new MemberStatus("a", "1", "", true, "", List.of(stalled), 1, Map.of());
    MemberStatus sent = MemberStatus.read(a.toBytes());
    assertThat(sent).isEqualTo(a);
    List<String> wanted = List.of("a", "b", "c");
    MemberStatus b = up("b", VOTERS, List.of());
    assertThat(of(wanted, sent, b, up("c", VOTERS, List.of())).health())
        .isEqualTo(Health.UNANSWERED);
  }

  private static MemberStatus up(String name, List<String> voters, List<String> listeners) {
    GroupStatus replica = replica("a", name.equals("a"), voters, listeners);
    return new MemberStatus(name, "1", "", true, "", List.of(replica), 1, Map.of());
  }

  private static MemberStatus down(String name) {
    return new MemberStatus(name, "1", "", false, "", List.of(), 0, Map.of());
  }

  private static ClusterStatus of(List<String> wanted, MemberStatus... members) {
    return new ClusterStatus(
        "id", "a", 3, 1, List.of(wanted), SlotsStatus.before(1), List.of(members));
  }

  /** A group that was just added has no keys that could lack an answer. */
  @Test
  void groupWithoutSlots_andWithoutALeader_isDegraded() {
    ClusterStatus one = three();
    List<List<String>> groups = List.of(one.replicas().get(0), List.of("a", "b", "c"));
    SlotsStatus added = new SlotsStatus(List.of(Placement.SLOTS, 0), 2048, List.of());
    assertThat(new ClusterStatus("id", "a", 4, 1, groups, added, one.members()).health())
        .isEqualTo(Health.DEGRADED);
    assertThat(
            new ClusterStatus("id", "a", 4, 1, groups, SlotsStatus.before(2), one.members())
                .health())
        .isEqualTo(Health.UNANSWERED);
  }

  private static ClusterStatus three(String... missing) {
    List<MemberStatus> members = new ArrayList<>();
    for (String name : List.of("a", "b", "c")) {
      members.add(List.of(missing).contains(name) ? down(name) : up(name, VOTERS, List.of()));
    }
    return of(List.of("c", "a", "b"), members.toArray(new MemberStatus[0]));
  }

  @Test
  void health_isThatOfTheWorstGroup() {
    assertThat(three().health()).isEqualTo(Health.HEALTHY);
    assertThat(three("c").health()).isEqualTo(Health.DEGRADED);
    assertThat(three("b", "c").health()).isEqualTo(Health.UNANSWERED);
    assertThat(three("a").health()).as("nobody leads").isEqualTo(Health.UNANSWERED);
  }

  @Test
  void listener_isNotHealthyYet_andDoesNotCount() {
    List<String> two = List.of("a@1", "b@1");
    List<String> listeners = List.of("c@1");
    MemberStatus a = up("a", two, listeners);
    MemberStatus c = up("c", two, listeners);
    List<String> wanted = List.of("a", "b", "c");
    assertThat(of(wanted, a, up("b", two, listeners), c).health()).isEqualTo(Health.DEGRADED);
    assertThat(of(wanted, a, down("b"), c).health()).isEqualTo(Health.UNANSWERED);
  }

  /** A member that has lost its folder is no voter. */
  @Test
  void otherIncarnation_doesNotCount() {
    MemberStatus c =
        new MemberStatus("c", "2", "", true, "", up("c", VOTERS, List.of()).groups(), 1, Map.of());
    MemberStatus a = up("a", VOTERS, List.of());
    assertThat(of(List.of("a", "b", "c"), a, down("b"), c).health()).isEqualTo(Health.UNANSWERED);
  }

  @Test
  void memberThatIsUp_isRemovedByForceOnly() {
    assertThat(three().removal("b", false)).contains("b is up", "--force");
    assertThat(three().removal("b", true)).isEmpty();
    assertThat(three().removal("x", true)).contains("expected: one of a, b, c");
  }

  @Test
  void memberThatIsDown_isRemoved_unlessItsGroupNeedsAnother() {
    assertThat(three("c").removal("c", false)).isEmpty();
    assertThat(three("c").removal("b", true)).contains("would lose its majority");
    assertThat(three("b", "c").removal("c", false)).contains("would lose its majority");
    assertThat(three("a").removal("a", false)).contains("has no leader");
    assertThat(of(List.of("a"), up("a", List.of("a@1"), List.of())).removal("a", true))
        .contains("only member");
  }
}
