package dev.weir.cluster.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.Await;
import dev.weir.cluster.Calm;
import dev.weir.cluster.Trio;
import dev.weir.cluster.Trio.Node;
import dev.weir.cluster.internal.log.HashMachine.Applied;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three members with a working network. */
class RatisLedgerTest {
  private static final int ENTRIES = 500;

  @TempDir Path folder;

  @Test
  void entries_areAppliedByAll_inOneOrder() throws Exception {
    Calm.check(folder, RatisLedgerTest::append);
  }

  private static void append(Path folder) throws Exception {
    try (Trio trio = new Trio(folder)) {
      Ledger ledger = trio.node(trio.leader()).ledger();
      List<CompletableFuture<byte[]>> replies = new ArrayList<>();
      for (int i = 0; i < ENTRIES; i++) {
        replies.add(ledger.append(HashMachine.entry(i, 100)).toCompletableFuture());
        if (i % 32 == 31) {
          replies.get(i).get(60, TimeUnit.SECONDS);
        }
      }
      CompletableFuture.allOf(replies.toArray(CompletableFuture<?>[]::new))
          .get(60, TimeUnit.SECONDS);
      List<Applied> applied = trio.settle();
      assertThat(applied).hasSize(ENTRIES + 1);
      assertThat(applied.stream().map(Applied::id).limit(ENTRIES)).isSorted();
      assertThat(ledger.status().applied()).isGreaterThanOrEqualTo(ENTRIES);
      assertThat(ledger.logBytes()).isGreaterThan(ENTRIES * 100);
      assertThat(ledger.leader()).isEqualTo(trio.node(trio.leader()).name());
    }
  }

  /**
   * If connections were made only after a leader has died, that would cost an election, and a
   * second.
   */
  @Test
  void allMembers_areConnectedForVotesAndTheLog_beforeAnyOfThemNeedsIt() throws Exception {
    try (Trio trio = new Trio(folder)) {
      for (Node from : trio.running()) {
        for (String to : Trio.NAMES) {
          for (String purpose : List.of(PeerRpc.VOTES, PeerRpc.log(Trio.GROUP))) {
            Await.until(
                from.name() + " is connected to " + to + " for " + purpose,
                () -> to.equals(from.name()) || from.transport().connected(to, purpose));
          }
        }
      }
    }
  }
}
