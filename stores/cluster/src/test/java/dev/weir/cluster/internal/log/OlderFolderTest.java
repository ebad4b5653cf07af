package dev.weir.cluster.internal.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerException.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Members a, b and c; c is started again, from the folder that it left or from another one. */
class OlderFolderTest {
  private static final long GROUP = 7;

  private final List<String> log = new ArrayList<>();
  private final Map<String, OlderFolder> members = new HashMap<>();
  private Outcome failure = Outcome.NOT_SENT;

  /** The answers that are held back; null if each comes at once. */
  private @Nullable List<Runnable> held;

  private static final class Log implements OlderFolder.GroupLog {
    private final Promise own;

    Log(Promise own) {
      this.own = own;
    }

    @Override
    public Promise promise() {
      return own;
    }
  }

  private OlderFolder start(String name, Log here, boolean kept) {
    OlderFolder started =
        new OlderFolder(
            name + "@1",
            "(expected: another)",
            (member, question) -> request(name, member, question),
            log::add);
    started.opened(GROUP, here, kept);
    members.put(name, started);
    return started;
  }

  private CompletionStage<byte[]> request(String from, String member, byte[] question) {
    OlderFolder there = members.get(member);
    if (there == null) {
      return CompletableFuture.failedStage(new PeerException(failure, "not there"));
    }
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    Runnable give = () -> answer.complete(there.answer(from, question));
    if (held == null) {
      give.run();
    } else {
      held.add(give);
    }
    return answer;
  }

  private static void join(CompletionStage<?> stage) {
    stage.toCompletableFuture().join();
  }

  private void voter() {
    start("a", new Log(new Promise(3, 3, 10)), false);
  }

  private void reportTwice(OlderFolder member) {
    member.report(List.of("a"));
    member.report(List.of("a")); // What the first call has read is on disk by now.
  }

  @Test
  void folderAsItWasLeft_isTaken() {
    voter();
    reportTwice(start("c", new Log(new Promise(3, 3, 10)), true));
    OlderFolder again = start("c", new Log(new Promise(3, 3, 10)), true);
    join(again.compared("a"));
    assertThat(again.problem()).isNull();
  }

  @Test
  void folderOfAnEarlierTermOrEntry_isAnOlderCopy() {
    for (Promise older :
        List.of(new Promise(2, 2, 90), new Promise(3, 3, 9), new Promise(3, 2, 9))) {
      log.clear();
      voter();
      reportTwice(start("c", new Log(new Promise(3, 3, 10)), true));
      OlderFolder again = start("c", new Log(older), true);
      assertThatThrownBy(() -> join(again.compared("a")))
          .hasMessageContaining("the folder is an older copy: group 7 has " + older)
          .hasMessageContaining("a remembers term 3 and entry 10 (expected: another)");
      assertThat(log).hasSize(1);
      // From then on it votes with none, whatever that one remembers, and reports nothing.
      members.put("b", members.get("a"));
      assertThatThrownBy(() -> join(again.compared("b"))).hasMessageContaining("older copy");
      reportTwice(again);
      OlderFolder third = start("c", new Log(older), true);
      assertThatThrownBy(() -> join(third.compared("a"))).hasMessageContaining("older copy");
    }
  }

  @Test
  void reportOfAnOlderCopy_doesNotReplaceWhatTheOthersRemember() {
    voter();
    reportTwice(start("c", new Log(new Promise(3, 3, 10)), true));
    OlderFolder again = start("c", new Log(new Promise(3, 3, 9)), true);
    reportTwice(again); // Nobody has voted yet, so nothing was compared before.
    assertThat(again.problem()).contains("older copy");
    OlderFolder third = start("c", new Log(new Promise(3, 3, 9)), true);
    assertThatThrownBy(() -> join(third.compared("a"))).hasMessageContaining("older copy");
  }

  /** Its next start would find nothing, but it has forgotten its votes. */
  @Test
  void olderCopy_takesNoEntries_andTheFolderAsItWasLeftTakesThemOnceItHasCompared() {
    voter();
    reportTwice(start("c", new Log(new Promise(3, 3, 10)), true));
    OlderFolder same = start("c", new Log(new Promise(3, 3, 10)), true);
    assertThat(same.mayTake(GROUP, "away")).as("no answer").isFalse();
    assertThat(same.mayTake(GROUP, "a")).isTrue();
    assertThat(same.mayTake(GROUP + 1, "a")).as("not open").isFalse();
    assertThat(start("c", new Log(new Promise(0, 0, 0)), false).mayTake(GROUP, "away"))
        .as("begun by this process")
        .isTrue();
    OlderFolder older = start("c", new Log(new Promise(3, 3, 9)), true);
    assertThat(older.mayTake(GROUP, "a")).isFalse();
    assertThat(older.mayTake(GROUP, "b")).as("from no other member either").isFalse();
  }

  @Test
  void answerThatComesLate_letsNoEntriesInBefore() {
    voter();
    OlderFolder same = start("c", new Log(new Promise(3, 3, 10)), true);
    List<Runnable> answers = new ArrayList<>();
    held = answers;
    assertThat(same.mayTake(GROUP, "a")).isFalse();
    assertThat(same.mayTake(GROUP, "a")).isFalse();
    assertThat(answers).as("it is asked once").hasSize(1);
    answers.get(0).run();
    assertThat(same.mayTake(GROUP, "a")).isTrue();
  }

  @Test
  void entriesThatALaterLeaderReplaced_areNotMissed() {
    voter();
    // Its last entries are of an earlier term than its own: a leader of term 3 may remove them.
    reportTwice(start("c", new Log(new Promise(3, 2, 10)), true));
    OlderFolder again = start("c", new Log(new Promise(3, 3, 8)), true);
    join(again.compared("a"));
    assertThat(again.problem()).isNull();
  }

  @Test
  void groupThatThisProcessBegan_isNotCompared() {
    voter();
    reportTwice(start("c", new Log(new Promise(3, 3, 10)), true));
    OlderFolder again = start("c", new Log(new Promise(0, 0, 0)), false);
    join(again.compared("a"));
    assertThat(again.problem()).isNull();
  }

  @Test
  void memberThatIsAway_isAskedAgain_andOneOfAnOlderVersionKnowsNothing() {
    OlderFolder again = start("c", new Log(new Promise(3, 3, 9)), true);
    assertThatThrownBy(() -> join(again.compared("a"))).hasMessageContaining("not there");
    failure = Outcome.FAILED;
    join(again.compared("b"));
    voter();
    reportTwice(start("c", new Log(new Promise(3, 3, 10)), true));
    while (again.problem() == null) {
      // Until the failed question is forgotten, on another thread.
      Object unused = again.compared("a").toCompletableFuture().handle((done, error) -> null);
    }
    assertThat(again.problem()).contains("older copy");
  }

  @Test
  void reportOfAnotherIncarnation_doesNotCount() {
    voter();
    reportTwice(start("c", new Log(new Promise(3, 3, 10)), true));
    OlderFolder other =
        new OlderFolder(
            "c@2", "(expected: another)", (member, asked) -> request("c", member, asked), log::add);
    other.opened(GROUP, new Log(new Promise(1, 1, 1)), true);
    join(other.compared("a"));
    assertThat(other.problem()).isNull();
  }
}
