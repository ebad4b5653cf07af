package dev.weir.cluster.internal.map;

import dev.weir.cluster.internal.asking.Route;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.PeerFrame;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.cluster.internal.state.SlotEntry;
import dev.weir.cluster.internal.state.SlotEntry.State;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a slot's move to the leaders of groups, with the formats of both sides. Safe
 * for use by many threads.
 */
public final class PeerSlots implements SlotMove.Way {
  /** The kind of its requests; only those of members are answered. */
  public static final int KIND = PeerFrame.FIRST_REQUEST + 23;

  /**
   * The timeout of a request, longer than a commit under load; a step that is repeated has no
   * effect.
   */
  public static final long ANSWER_MILLIS = 2_000;

  private static final int APPLY = 0;
  private static final int LIFTED = 1;

  private final Supplier<ClusterMap> map;
  private final Route route;
  private final SlotChanges changes;

  /** The leader of each group, by the last answer. */
  private final Map<Integer, String> leaders = new ConcurrentHashMap<>();

  /**
   * Creates the connection.
   *
   * @param route sends a request to a member, which calls {@link #answer}; fails if that takes too
   *     long
   */
  public PeerSlots(Supplier<ClusterMap> map, Route route, SlotChanges changes) {
    this.map = map;
    this.route = route;
    this.changes = changes;
  }

  @Override
  public CompletionStage<State> apply(int group, SlotEntry entry) {
    byte[] written = entry.toEntry();
    byte[] question = new ByteWriter().writeByte(APPLY).copy(written, 0, written.length).toBytes();
    return call(group, question).thenApply(State::read);
  }

  @Override
  public CompletionStage<byte[]> lifted(int group, int slot, long epoch, int offset) {
    return call(
        group,
        new ByteWriter()
            .writeByte(LIFTED)
            .writeNumber(slot)
            .writeNumber(epoch)
            .writeNumber(offset)
            .toBytes());
  }

  @Override
  public CompletionStage<ClusterMap> change(Consumer<SlotsDraft> change) {
    return changes.change(change);
  }

  private CompletionStage<byte[]> call(int group, byte[] question) {
    return call(group, question, map.get().replicas(group).size() + 1);
  }

  /** Calls the last leader, and then the others: all requests may be repeated. */
  private CompletionStage<byte[]> call(int group, byte[] question, int triesLeft) {
    List<String> members = map.get().replicas(group);
    if (members.isEmpty()) {
      return CompletableFuture.failedStage(
          new LedgerException(Outcome.NOT_LEADER, null, "group " + group + " has no members"));
    }
    String known = leaders.get(group);
    String asked = known != null && members.contains(known) ? known : members.get(0);
    return route
        .send(asked, group, question)
        .handle(
            (reply, error) -> {
              if (reply != null) {
                leaders.put(group, asked);
                return CompletableFuture.completedStage(reply);
              }
              leaders.put(group, next(members, asked, error));
              return triesLeft > 1 && certain(error)
                  ? call(group, question, triesLeft - 1)
                  : CompletableFuture.<byte[]>failedStage(
                      error == null ? new IllegalStateException("no reply") : error);
            })
        .thenCompose(answer -> answer);
  }

  private static @Nullable LedgerException why(@Nullable Throwable error) {
    Throwable cause = error;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause instanceof LedgerException known ? known : null;
  }

  private static boolean certain(@Nullable Throwable error) {
    LedgerException why = why(error);
    return why != null && why.outcome() == Outcome.NOT_LEADER;
  }

  private static String next(List<String> members, String asked, @Nullable Throwable error) {
    LedgerException why = why(error);
    String named = why == null ? null : why.leader();
    return named != null && !named.equals(asked) && members.contains(named)
        ? named
        : members.get((members.indexOf(asked) + 1) % members.size());
  }

  /**
   * Answers a request, if this member leads the group.
   *
   * @return fails with a {@link LedgerException}
   */
  public static CompletionStage<byte[]> answer(Ledger ledger, Replica replica, byte[] question) {
    if (!ledger.leads() || replica.diverged()) {
      return CompletableFuture.failedStage(
          new LedgerException(
              Outcome.NOT_LEADER,
              replica.diverged() ? null : ledger.leader(),
              "another member leads"));
    }
    ByteReader in = new ByteReader(question, 0);
    if (in.readByte() == APPLY) {
      byte[] entry = Arrays.copyOfRange(question, in.position(), question.length);
      if (entry.length <= Ledger.STAMP_BYTES || entry[Ledger.STAMP_BYTES] != Entry.SLOT) {
        throw new IllegalArgumentException("entry: of another kind (expected: of a slot)");
      }
      return ledger.append(entry);
    }
    byte[] all = replica.slots().lifted(in.readNumber(0, Placement.SLOTS - 1), in.readNumber());
    if (all == null) {
      return CompletableFuture.failedStage(
          new LedgerException(Outcome.UNKNOWN, null, "the slot is not frozen here"));
    }
    int offset = in.readNumber(0, all.length);
    int end = Math.min(all.length, offset + SlotMove.CHUNK_BYTES);
    return CompletableFuture.completedStage(Arrays.copyOfRange(all, offset, end));
  }
}
