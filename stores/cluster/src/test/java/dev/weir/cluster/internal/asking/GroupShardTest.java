package dev.weir.cluster.internal.asking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.Maps;
import dev.weir.cluster.internal.state.ReplyWriter;
import dev.weir.shared.Call;
import dev.weir.shared.Failure;
import dev.weir.shared.Reply;
import dev.weir.shared.ShardException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The choice of the member that a server calls. */
class GroupShardTest {
  private static final ClusterMap MAP =
      Maps.of(1, "a", "b", "c")
          .with(Maps.of(1, "a", "b", "c").members(), List.of(List.of("a", "b", "c")));

  private static final byte[] REPLY = new ReplyWriter(5).toBytes();

  private final List<String> asked = new ArrayList<>();
  private final List<CompletableFuture<byte[]>> answers = new ArrayList<>();

  private final GroupShard shard =
      new GroupShard(
          0,
          () -> MAP,
          (member, group, entry) -> {
            asked.add(member);
            CompletableFuture<byte[]> answer = new CompletableFuture<>();
            answers.add(answer);
            return answer;
          });

  private CompletionStage<? extends Reply> request() {
    return shard.newCall().send(Call.SHARDS_TIME);
  }

  private void fail(Outcome outcome, @Nullable String leader) {
    answers
        .get(answers.size() - 1)
        .completeExceptionally(new LedgerException(outcome, leader, "no"));
  }

  private static Failure failure(CompletionStage<? extends Reply> answer) {
    Throwable thrown = catchThrowable(() -> answer.toCompletableFuture().join());
    return ((ShardException) Objects.requireNonNull(thrown.getCause())).failure();
  }

  @Test
  void memberThatDoesNotLead_namesTheNext() {
    CompletionStage<? extends Reply> answer = request();
    fail(Outcome.NOT_LEADER, "c");
    assertThat(asked).containsExactly("a", "c");
    answers.get(1).complete(REPLY);
    assertThat(answer.toCompletableFuture().join().nowNanos()).isEqualTo(5);
    CompletionStage<? extends Reply> unused = request();
    assertThat(asked).containsExactly("a", "c", "c");
  }

  @Test
  void noLeader_isFoundOutAfterAllWereAsked() {
    CompletionStage<? extends Reply> answer = request();
    for (int i = 0; i < 4; i++) {
      fail(Outcome.NOT_LEADER, i == 0 ? "stranger" : null);
    }
    assertThat(asked).containsExactly("a", "b", "c", "a");
    assertThat(failure(answer)).isEqualTo(Failure.NO_LEADER);
  }

  @Test
  void whatMayHaveBeenDecided_isNotAskedAgain_butTheNextIsAskedTheNextTime() {
    CompletionStage<? extends Reply> answer = request();
    fail(Outcome.UNKNOWN, null);
    assertThat(asked).containsExactly("a");
    assertThat(failure(answer)).isEqualTo(Failure.OTHER);
    CompletionStage<? extends Reply> unused = request();
    assertThat(asked).containsExactly("a", "b");
  }

  @Test
  void overloadedLeader_isStillTheLeader() {
    CompletionStage<? extends Reply> answer = request();
    fail(Outcome.OVERLOADED, "a");
    assertThat(failure(answer)).isEqualTo(Failure.OVERLOADED);
    assertThat(shard.leader()).isEqualTo("a");
  }

  /** A member that is cut off never answers, while another one leads. */
  @Test
  void probeWithoutAnAnswer_turnsToTheNext() {
    for (String member : List.of("a", "b", "c", "a")) {
      CompletionStage<? extends Reply> probe = shard.probe();
      assertThat(asked.get(asked.size() - 1)).isEqualTo(member);
      probe
          .toCompletableFuture()
          .completeExceptionally(new ShardException(Failure.TIMEOUT, "no answer in time"));
    }
  }

  @Test
  void replyThatMakesNoSense_fails() {
    CompletionStage<? extends Reply> answer = request();
    answers.get(0).complete(new byte[3]);
    assertThat(failure(answer)).isEqualTo(Failure.OTHER);
  }
}
