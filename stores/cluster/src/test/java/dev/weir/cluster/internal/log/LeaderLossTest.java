package dev.weir.cluster.internal.log;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.internal.log.LeaderLoss.Last;
import dev.weir.cluster.internal.log.LeaderLoss.Leadership;
import dev.weir.cluster.internal.peer.PeerException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The election after a leader's process has ended. Time passes at the test's request. */
class LeaderLossTest {
  private static final long GROUP = 3;
  private static final Leadership LEADER = new Leadership("a@1", 7);

  private final Map<String, Fake> members = new HashMap<>();
  private final List<String> stood = new ArrayList<>();
  private final List<String> log = new ArrayList<>();
  private final Deque<Runnable> later = new ArrayDeque<>();

  /** A voter of the one group, which follows member a. */
  private final class Fake implements LeaderLoss.Voter, LeaderLoss.Others {
    private final String name;
    private final LeaderLoss loss;
    private @Nullable Leadership led = LEADER;
    private Last last = new Last(7, 100);
    private boolean lost;
    private boolean silent;
    private byte @Nullable [] nonsense;

    Fake(String name) {
      this.name = name;
      loss = new LeaderLoss(name, this, this, Runnable::run, later::add, log::add);
    }

    @Override
    public CompletionStage<byte[]> request(String member, byte[] question) {
      return LeaderLossTest.this.call(member, question);
    }

    @Override
    public boolean gone(String member) {
      return lost && member.equals("a");
    }

    void lose() {
      lost = true;
      loss.ended("a");
    }

    @Override
    public Collection<Long> groups() {
      return List.of(GROUP);
    }

    @Override
    public @Nullable Leadership led(long group) {
      return group == GROUP ? led : null;
    }

    @Override
    public Last last(long group) {
      return last;
    }

    @Override
    public Collection<String> voters(long group) {
      return members.keySet();
    }

    @Override
    public boolean stand(long group, Leadership before) {
      assertThat(before).isEqualTo(LEADER);
      stood.add(name);
      members.values().forEach(each -> each.led = null);
      return true;
    }
  }

  private void members(String... names) {
    for (String each : names) {
      members.put(each, new Fake(each));
    }
    member("a").silent = true;
  }

  private Fake member(String name) {
    return Objects.requireNonNull(members.get(name));
  }

  private CompletionStage<byte[]> call(String member, byte[] question) {
    Fake asked = member(member);
    if (asked.silent) {
      return CompletableFuture.failedStage(new PeerException(PeerException.Outcome.UNKNOWN, "no"));
    }
    byte[] nonsense = asked.nonsense;
    return CompletableFuture.completedStage(
        nonsense == null ? asked.loss.answer(question) : nonsense);
  }

  /** Ends one pause of all waiting voters. */
  private void pause() {
    for (int i = later.size(); i > 0; i--) {
      later.remove().run();
    }
  }

  /** Ends all pauses; returns their number. */
  private int pauseUntilNobodyAsks() {
    int pauses = 0;
    for (; !later.isEmpty(); pauses++) {
      pause();
    }
    return pauses;
  }

  @Test
  void bothHaveLostIt_theFirstByNameStands() {
    members("a", "b", "c");
    member("c").lose();
    assertThat(stood).isEmpty();
    member("b").lose();
    assertThat(stood).containsExactly("b");
    pauseUntilNobodyAsks();
    assertThat(stood).containsExactly("b");
    assertThat(log)
        .containsExactly(
            "cluster: a, which led group 3, has ended: this member stands for election");
  }

  @Test
  void logsOfUnequalLength_theLongerStands() {
    members("a", "b", "c");
    member("c").last = new Last(7, 101);
    member("b").lose();
    member("c").lose();
    pauseUntilNobodyAsks();
    assertThat(stood).containsExactly("c");
  }

  @Test
  void logsOfUnequalTerm_theLaterStands() {
    members("a", "b", "c");
    member("b").last = new Last(6, 200);
    member("b").lose();
    member("c").lose();
    pauseUntilNobodyAsks();
    assertThat(stood).containsExactly("c");
  }

  @Test
  void theOtherStillHearsIt_nobodyStands_andNobodyAsksForEver() {
    members("a", "b", "c");
    member("b").lose();
    assertThat(pauseUntilNobodyAsks()).isEqualTo(LeaderLoss.MOST_ROUNDS);
    assertThat(stood).isEmpty();
  }

  @Test
  void theOtherNoticesItLater_oneStandsThen() {
    members("a", "b", "c");
    member("b").lose();
    pause();
    pause();
    assertThat(stood).isEmpty();
    member("c").lost = true;
    pause();
    assertThat(stood).containsExactly("b");
    assertThat(later).isEmpty();
  }

  @Test
  void minorityOfFive_doesNotStand_butAMajorityDoes() {
    members("a", "b", "c", "d", "e");
    member("e").lose();
    member("d").lose();
    pause();
    assertThat(stood).isEmpty();
    member("c").silent = true;
    member("b").lose();
    pauseUntilNobodyAsks();
    assertThat(stood).containsExactly("b");
  }

  @Test
  void oneOfTwo_doesNotStand() {
    members("a", "b");
    member("b").lose();
    pauseUntilNobodyAsks();
    assertThat(stood).isEmpty();
  }

  @Test
  void anotherLeadsByNow_theAskingEnds() {
    members("a", "b", "c");
    member("b").lose();
    member("b").led = new Leadership("c@1", 8);
    member("c").led = null;
    member("c").lost = true;
    assertThat(pauseUntilNobodyAsks()).isEqualTo(1);
    assertThat(stood).isEmpty();
  }

  @Test
  void connectedAgain_theAskingEnds() {
    members("a", "b", "c");
    member("b").lose();
    member("b").lost = false;
    member("c").lost = true;
    assertThat(pauseUntilNobodyAsks()).isEqualTo(1);
    assertThat(stood).isEmpty();
  }

  @Test
  void anotherThanTheLeader_hasEnded_nothingIsAsked() {
    members("a", "b", "c");
    member("b").led = new Leadership("c@1", 7);
    member("b").lose();
    assertThat(later).isEmpty();
    assertThat(stood).isEmpty();
  }

  @Test
  void heardTwice_asksOnce() {
    members("a", "b", "c");
    member("b").lose();
    member("b").lose();
    assertThat(later).hasSize(1);
  }

  @Test
  void nonsense_isNoAnswer() {
    members("a", "b", "c");
    member("c").nonsense = "?".getBytes(UTF_8);
    member("b").lose();
    assertThat(pauseUntilNobodyAsks()).isEqualTo(LeaderLoss.MOST_ROUNDS);
    assertThat(stood).isEmpty();
  }
}
