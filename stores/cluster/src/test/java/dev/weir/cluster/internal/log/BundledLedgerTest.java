package dev.weir.cluster.internal.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.weir.Algorithm;
import dev.weir.Fingerprint;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.operating.GroupCounters;
import dev.weir.cluster.internal.state.ClusterPolicy;
import dev.weir.cluster.internal.state.ClusterReply;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.Entries;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.GroupMachine;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BundledLedgerTest {
  private static final Fingerprint FINGERPRINT = Fingerprint.seeded(1, 2);
  private static final ClusterPolicy TWO =
      ClusterPolicy.of("two", Policies.of(Algorithm.SLIDING_WINDOW_LOG, 2, Policies.SECOND));

  private final FakeTicker ticker = new FakeTicker(1_000 * Policies.SECOND);
  private final Replica replica = replica();
  private final SlowLedger slow =
      new SlowLedger(
          BundledLedger.machine(
              new GroupMachine(replica, time(), new GroupCounters(new FakeTicker()), line -> {})));
  private final BundledLedger ledger = new BundledLedger(slow);

  private ClusterTime time() {
    return new ClusterTime(ticker);
  }

  private Replica replica() {
    return new Replica(FINGERPRINT, time(), Runnable::run, line -> {});
  }

  /** A log of one member, which applies an entry when the test asks it to. */
  private static final class SlowLedger implements FixedLedger {
    final Queue<byte[]> entries = new ArrayDeque<>();
    final List<byte[]> applied = new ArrayList<>();
    private final Queue<CompletableFuture<byte[]>> waiting = new ArrayDeque<>();
    private final Machine machine;
    private long index;

    SlowLedger(Machine machine) {
      this.machine = machine;
    }

    @Override
    public CompletionStage<byte[]> append(byte[] entry) {
      CompletableFuture<byte[]> reply = new CompletableFuture<>();
      machine.stamp(1, entry);
      entries.add(entry);
      waiting.add(reply);
      return reply;
    }

    void apply() {
      byte[] entry = entries.remove();
      applied.add(entry);
      waiting.remove().complete(machine.apply(++index, 1, entry));
    }

    void fail(Outcome outcome) {
      byte[] unused = entries.remove();
      waiting.remove().completeExceptionally(new LedgerException(outcome, "b", "failed"));
    }

    @Override
    public String leader() {
      return "a";
    }

    @Override
    public boolean leads() {
      return true;
    }

    @Override
    public Status status() {
      return new Status(leader(), 1, index, index);
    }

    @Override
    public void transfer(@Nullable String member) {}

    @Override
    public void close() {}
  }

  private static byte[] one(long key) {
    return Entries.entry(Entries.decideOne(TWO, key, 1, 1));
  }

  private CompletableFuture<byte[]> append(byte[] entry) {
    return ledger.append(entry).toCompletableFuture();
  }

  /** Appends until an entry has to wait; returns the number of entries appended. */
  private int fill() {
    int sent = 0;
    while (slow.entries.size() == sent) {
      sent++;
      CompletableFuture<byte[]> unused = append(one(sent));
    }
    return sent;
  }

  @Test
  void oneAlone_isAppendedAtOnceAsItIs() {
    byte[] entry = one(7);
    CompletableFuture<byte[]> reply = append(entry);
    assertThat(slow.entries).containsExactly(entry);
    slow.apply();
    assertThat(new ClusterReply(reply.join()).number()).isEqualTo(1);
  }

  @Test
  void whatComesWhileEntriesAreUnderWay_isOneEntry() {
    int sent = fill();
    int before = slow.entries.size();
    List<CompletableFuture<byte[]>> later = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      later.add(append(one(99)));
    }
    assertThat(slow.entries).hasSize(before).hasSizeLessThan(sent);
    while (!slow.entries.isEmpty()) {
      slow.apply();
    }
    assertThat(slow.applied).hasSize(before + 1);
    List<Long> admitted =
        later.stream().map(reply -> new ClusterReply(reply.join()).number()).toList();
    assertThat(admitted).as("two of the five, in their order").containsExactly(1L, 1L, 0L, 0L, 0L);
  }

  @Test
  void bundles_areDecidedAsTheirPartsAlone() {
    SplittableRandom random = Trials.random("bundles");
    List<byte[]> asked = new ArrayList<>();
    List<CompletableFuture<byte[]>> answered = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      ticker.advance(Policies.MICRO * random.nextLong(50_000));
      byte[] entry = one(random.nextLong(20));
      asked.add(entry.clone());
      answered.add(append(entry));
      if (random.nextInt(4) == 0 && !slow.entries.isEmpty()) {
        slow.apply();
      }
    }
    while (!slow.entries.isEmpty()) {
      slow.apply();
    }
    assertThat(slow.applied).hasSizeLessThan(1_500);
    Replica alone = replica();
    for (int i = 0; i < asked.size(); i++) {
      byte[] reply = answered.get(i).join();
      Entry.stamp(asked.get(i), new ClusterReply(reply).nowNanos());
      assertThat(reply).as("entry %d", i).isEqualTo(alone.apply(i, asked.get(i)));
    }
  }

  @Test
  void partThatMakesNoSense_isAnsweredForItself() {
    int unused = fill();
    CompletableFuture<byte[]> before = append(one(50));
    byte[] cut = Arrays.copyOf(one(51), one(51).length - 1);
    CompletableFuture<byte[]> senseless = append(cut);
    CompletableFuture<byte[]> after = append(one(52));
    while (!slow.entries.isEmpty()) {
      slow.apply();
    }
    assertThat(senseless.join()).isEmpty();
    assertThat(new ClusterReply(before.join()).number()).isEqualTo(1);
    assertThat(new ClusterReply(after.join()).number()).isEqualTo(1);
  }

  @Test
  void failure_isThatOfAllParts() {
    int unused = fill();
    List<CompletableFuture<byte[]>> later = List.of(append(one(60)), append(one(61)));
    for (int underWay = slow.entries.size(); underWay > 0; underWay--) {
      slow.apply();
    }
    slow.fail(Outcome.UNKNOWN);
    for (CompletableFuture<byte[]> each : later) {
      Throwable thrown = Objects.requireNonNull(catchThrowable(each::join).getCause());
      assertThat(thrown).isInstanceOf(LedgerException.class);
      assertThat(((LedgerException) thrown).outcome()).isEqualTo(Outcome.UNKNOWN);
    }
    CompletableFuture<byte[]> next = append(one(62));
    slow.apply();
    assertThat(new ClusterReply(next.join()).number()).as("it goes on").isEqualTo(1);
  }

  @Test
  void moreBytesThanMayWait_areRefusedForCertain() {
    int unused = fill();
    byte[] large = Arrays.copyOf(one(70), 1 << 18);
    CompletableFuture<byte[]> last = append(large);
    for (int i = 0; i < 64; i++) {
      last = append(large);
    }
    CompletableFuture<byte[]> refused = last;
    LedgerException why =
        (LedgerException) Objects.requireNonNull(catchThrowable(refused::join).getCause());
    assertThat(why.outcome()).isEqualTo(Outcome.OVERLOADED);
  }
}
