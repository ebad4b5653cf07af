package dev.weir.cluster.internal.asking;

import dev.weir.Charges.Role;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.state.ClusterPolicy;
import dev.weir.cluster.internal.state.ClusterReply;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.EntryWriter;
import dev.weir.shared.Call;
import dev.weir.shared.Failure;
import dev.weir.shared.Reply;
import dev.weir.shared.Shard;
import dev.weir.shared.ShardException;
import dev.weir.shared.SharedBinding;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One group of a cluster, called over the member that leads it. Safe for use by many threads. */
final class GroupShard implements Shard {
  /*
   * Which member does it call, and how often? The member that led last. If that one answers that it
   * does not lead, nothing can have been decided, so the operations go to the one that it names, or
   * to the next. They fail after as many members as there are, and one more; this is the case while
   * none leads. Operations that may have been decided are never sent again.
   *
   * A member that does not answer gives no hint of the leader: it may be cut off, or stopped, while
   * the others have long agreed on another. So whenever the outcome of a call is not known, and
   * whenever a probe fails, the next call goes to the next member; if the one before it still
   * leads, the next one's answer names it.
   */

  /**
   * The most charges of one call: a call costs a disk's flush and a round trip, so many operations
   * share one.
   */
  private static final int MOST_CHARGES = 4_096;

  /** The most calls in flight: while one is, operations are collected for the next but one. */
  private static final int MOST_IN_FLIGHT = 2;

  private final int group;
  private final Supplier<ClusterMap> map;
  private final Route route;
  private final AtomicLong latestNanos = new AtomicLong(Long.MIN_VALUE);
  private volatile String leader;

  /**
   * Creates a shard.
   *
   * @param map has the members that may lead
   */
  GroupShard(int group, Supplier<ClusterMap> map, Route route) {
    this.group = group;
    this.map = map;
    this.route = route;
    List<String> members = members();
    this.leader = members.get(group % members.size());
  }

  private List<String> members() {
    return map.get().replicas(group);
  }

  /** Returns the leader by the last answer. */
  String leader() {
    return leader;
  }

  @Override
  public Call newCall() {
    return new GroupCall();
  }

  @Override
  public CompletionStage<? extends Reply> probe() {
    CompletableFuture<Reply> answer = send(Entry.probe());
    CompletableFuture<Reply> unused =
        answer.whenComplete(
            (reply, error) -> {
              if (error != null) { // This includes a missing answer.
                turnTo(leader, null);
              }
            });
    return answer;
  }

  @Override
  public CompletionStage<?> turn() {
    return CompletableFuture.completedStage(null);
  }

  @Override
  public int slot(SharedBinding binding, long fingerprint) {
    return 0;
  }

  @Override
  public int maxInFlight() {
    return MOST_IN_FLIGHT;
  }

  @Override
  public int maxCharges() {
    return MOST_CHARGES;
  }

  private CompletableFuture<Reply> send(byte[] entry) {
    CompletableFuture<Reply> answer = new CompletableFuture<>();
    send(entry, members().size() + 1, answer);
    return answer;
  }

  private void send(byte[] entry, int triesLeft, CompletableFuture<Reply> answer) {
    String asked = leader;
    route
        .send(asked, group, entry)
        .whenComplete(
            (reply, error) -> {
              if (reply != null) {
                read(reply, answer);
                return;
              }
              LedgerException why = why(error);
              if (why.outcome() != Outcome.OVERLOADED) {
                turnTo(asked, why.leader());
              }
              if (why.outcome() != Outcome.NOT_LEADER) {
                answer.completeExceptionally(
                    new ShardException(
                        why.outcome() == Outcome.OVERLOADED ? Failure.OVERLOADED : Failure.OTHER,
                        why.words()));
                return;
              }
              if (triesLeft > 1) {
                send(entry, triesLeft - 1, answer);
              } else {
                answer.completeExceptionally(new ShardException(Failure.NO_LEADER, why.words()));
              }
            });
  }

  private void read(byte[] reply, CompletableFuture<Reply> answer) {
    try {
      answer.complete(new ClusterReply(reply).after(latestNanos));
    } catch (IllegalArgumentException e) {
      answer.completeExceptionally(new ShardException(Failure.OTHER, "reply: " + e.getMessage()));
    }
  }

  private static LedgerException why(@Nullable Throwable error) {
    Throwable cause = error;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause instanceof LedgerException known
        ? known
        : new LedgerException(Outcome.UNKNOWN, null, String.valueOf(cause));
  }

  private void turnTo(String asked, @Nullable String named) {
    if (!asked.equals(leader)) {
      return; // Another call has already found out.
    }
    List<String> members = members();
    leader =
        named != null && !named.equals(asked) && members.contains(named)
            ? named
            : members.get((members.indexOf(asked) + 1) % members.size());
  }

  /** An entry of operations under construction. */
  private final class GroupCall implements Call {
    private final EntryWriter entry = new EntryWriter();

    private static ClusterPolicy policy(SharedBinding binding) {
      return (ClusterPolicy) binding.code();
    }

    @Override
    public void decideMany(int charges, boolean peeking, boolean queued, long maxWaitNanos) {
      entry.decideMany(charges, peeking, queued, maxWaitNanos);
    }

    @Override
    public void charge(SharedBinding binding, long fingerprint, long permits, Role role) {
      entry.charge(policy(binding), fingerprint, permits, role);
    }

    @Override
    public void decideOne(SharedBinding binding, long fingerprint, long permits, long count) {
      entry.decideOne(policy(binding), fingerprint, permits, count);
    }

    @Override
    public void record(SharedBinding binding, long fingerprint, long permits) {
      entry.record(policy(binding), fingerprint, permits);
    }

    @Override
    public void refund(
        SharedBinding binding, long fingerprint, long permits, long atNanos, long resetNanos) {
      entry.refund(policy(binding), fingerprint, permits, atNanos, resetNanos);
    }

    @Override
    public void reset(SharedBinding binding, long fingerprint) {
      entry.reset(policy(binding), fingerprint);
    }

    @Override
    public void renew(SharedBinding binding, long fingerprint, long atNanos) {
      entry.renew(policy(binding), fingerprint, atNanos);
    }

    @Override
    public CompletionStage<? extends Reply> send(long nowNanos) {
      byte[] written = entry.toEntry();
      if (nowNanos != SHARDS_TIME) {
        Entry.stamp(written, nowNanos); // For tests; members' ledgers write their own stamps.
      }
      return GroupShard.this.send(written);
    }
  }
}
