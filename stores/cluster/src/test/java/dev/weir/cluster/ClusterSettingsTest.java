package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.shared.ClusterMember;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterSettingsTest {
  private static final ClusterMember A = new ClusterMember("a", "127.0.0.1", 7001);
  private static final ClusterMember B = new ClusterMember("b", "127.0.0.1", 7002);

  private static ClusterSettings.Builder builder() {
    return ClusterSettings.builder(A, Path.of("folder"));
  }

  @Test
  void members_haveThisOne() {
    assertThat(builder().build().members()).containsExactly(A);
    assertThat(builder().members(List.of(B)).build().members()).containsExactly(B, A);
    assertThat(builder().members(List.of(A, B)).build().members()).containsExactly(A, B);
    ClusterMember elsewhere = new ClusterMember("a", "127.0.0.2", 7003);
    assertThat(builder().members(List.of(B, elsewhere)).build().members())
        .containsExactly(B, elsewhere);
  }

  @Test
  void twoMembersOfOneName_areRefused() {
    assertThatThrownBy(() -> builder().members(List.of(A, B, A)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("members: two of one name");
  }

  @Test
  void member_listensWhereTheOthersReachIt() {
    assertThat(builder().build().listen()).hasToString("/127.0.0.1:7001");
    InetSocketAddress named = InetSocketAddress.createUnresolved("127.0.0.1", 7009);
    assertThat(builder().listen(named).build().listen()).hasToString("/127.0.0.1:7009");
  }

  @Test
  void membersBehindAName_areCounted() {
    ClusterSettings.Builder behind =
        builder().members(List.of(ClusterMember.allBehind("members.internal", 7001)));
    assertThatThrownBy(behind::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("size: 0 (expected: how many members must see each other, from 1)");
    assertThat(behind.size(3).build().size()).isEqualTo(3);
  }

  @Test
  void folderWithComma_isRefused() {
    assertThatThrownBy(() -> ClusterSettings.builder(A, Path.of("a,b")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("folder: a,b (expected: without a comma)");
  }

  @Test
  void levelThatIsNotUnderstood_isRefused() {
    int tooHigh = ClusterMember.MOST_LEVEL + 1;
    assertThatThrownBy(() -> builder().levelMost(tooHigh))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("levelMost: " + tooHigh + " (expected: one of ");
    assertThat(builder().levelMost(0).build().levelMost()).isZero();
  }
}
