package dev.weir.cluster.internal.asking;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.operating.GroupCounters;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.state.ClusterPolicy;
import dev.weir.cluster.internal.state.ClusterReply;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.EntryWriter;
import dev.weir.cluster.internal.state.GroupSlots;
import dev.weir.cluster.internal.state.OperationReader;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.cluster.internal.state.ReplyWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The receiver of operations for one group on the member that leads it. Safe for use by many
 * threads.
 *
 * <p>An operation that the applied state refuses is refused at once, and not logged: a refusal
 * changes nothing, so no majority needs it. Every admission goes through the log.
 */
public final class GroupLeader {
  /*
   * Is a refusal right that is read from a state which may be old? It is read from all entries
   * committed up to some instant. If this member does not lead any more and has not noticed it yet,
   * others may have given permits back since: then it refuses a request that might have been
   * admitted, as a later answer might have done. It never admits a request by such a state, since
   * that takes a commit.
   */

  /** The retry-after of a new key for which there was no room: keys are removed all the time. */
  private static final long RETRY_WHEN_FULL_NANOS = 1_000_000_000L;

  private final Ledger ledger;
  private final Replica replica;
  private final ClusterTime time;
  private final long maxKeys;
  private final long maxBytes;
  private final GroupCounters counters;

  /**
   * Creates the receiver.
   *
   * @param maxKeys the number of keys from which on no new one is accepted
   * @param maxBytes the number of bytes of state from which on no new key is accepted
   */
  public GroupLeader(
      Ledger ledger,
      Replica replica,
      ClusterTime time,
      GroupCounters counters,
      long maxKeys,
      long maxBytes) {
    this.ledger = ledger;
    this.replica = replica;
    this.time = time;
    this.counters = counters;
    this.maxKeys = maxKeys;
    this.maxBytes = maxBytes;
  }

  /** Returns the number of operations that were refused without the log. */
  public long sieved() {
    return counters.refusedEarly();
  }

  /**
   * Decides operations.
   *
   * @param entry as {@link EntryWriter} writes it; it may be used again only if this fails with
   *     another outcome than {@link Outcome#UNKNOWN}
   * @return the reply, as {@link ReplyWriter} writes it; fails with a {@link LedgerException}
   * @throws IllegalArgumentException if the entry is invalid; then nothing is decided
   */
  public CompletionStage<byte[]> decide(byte[] entry) {
    if (!ledger.leads() || replica.diverged()) {
      counters.undecided(Outcome.NOT_LEADER);
      return CompletableFuture.failedStage(
          new LedgerException(
              Outcome.NOT_LEADER,
              replica.diverged() ? null : ledger.leader(),
              replica.diverged() ? "this replica has diverged" : "another member leads"));
    }
    Sieve sieve = new Sieve(entry);
    counters.received(sieve.charges, sieve.refusals.size());
    if (sieve.refusals.isEmpty()) {
      return append(entry);
    }
    byte[] rest = sieve.rest();
    return rest == null
        ? CompletableFuture.completedStage(sieve.merged(null))
        : append(rest).thenApply(sieve::merged);
  }

  private CompletionStage<byte[]> append(byte[] entry) {
    long begun = counters.begin();
    return ledger.append(entry).whenComplete((reply, problem) -> counters.appended(begun, problem));
  }

  /**
   * An operation that is refused at once, and its place in the entry.
   *
   * @param reason null if its keys are another group's
   */
  private record RefusedOperation(
      int begin,
      int end,
      @Nullable Reason reason,
      long remaining,
      long retryAfterNanos,
      long resetAfterNanos,
      long atNanos) {}

  /**
   * A sieve that separates the operations of an entry: those that are refused at once, and those
   * that all replicas decide.
   */
  private final class Sieve {
    private final byte[] entry;
    private final List<RefusedOperation> refusals = new ArrayList<>();
    private final long now = time.nowNanos();

    /** True if all replicas understand seats; otherwise, entries that name them are not logged. */
    private final boolean seats = replica.level() >= Levels.SEATS;

    /** For each policy of the entry, whether it is not logged. */
    private final boolean[] unknown;

    private boolean anyLeft;
    private int charges;

    Sieve(byte[] entry) {
      this.entry = entry;
      OperationReader each = new OperationReader(entry);
      @Nullable Binding[] bindings = new Binding[each.policies().size()];
      unknown = new boolean[bindings.length];
      for (int i = 0; i < bindings.length; i++) {
        byte[] policy = each.policies().get(i);
        bindings[i] = replica.known(policy);
        unknown[i] = !seats && bindings[i] == null && ClusterPolicy.read(policy).countsSeats();
      }
      boolean full = isFull();
      Charges one = new Charges();
      GroupSlots slots = replica.slots();
      while (each.next()) {
        charges += each.charges();
        RefusedOperation refused =
            slots.decides(each) && isKnown(each) ? refused(each, bindings, one, full) : moved(each);
        if (refused == null) {
          anyLeft = true;
        } else {
          refusals.add(refused);
        }
      }
    }

    /**
     * Returns whether the replicas know the operation. If not, it is answered as one whose key has
     * moved: the level of this group is raised in a moment, and then it is sent again.
     */
    private boolean isKnown(OperationReader each) {
      boolean known = seats || each.kind() != OperationReader.Kind.RENEW;
      for (int i = 0; i < each.charges(); i++) {
        known &= !unknown[each.policy(i)];
      }
      return known;
    }

    private boolean isFull() {
      MemoryStore store = replica.store();
      return store.keys() >= maxKeys || store.bytes() >= maxBytes;
    }

    private @Nullable RefusedOperation refused(
        OperationReader each, @Nullable Binding[] bindings, Charges one, boolean full) {
      boolean many = each.kind() == OperationReader.Kind.DECIDE_MANY;
      boolean plain =
          each.kind() == OperationReader.Kind.DECIDE_ONE
              || (many
                  && each.charges() == 1
                  && each.role(0) == Charges.Role.REQUIRED
                  && !each.queued());
      if (!plain || each.permits(0) < 0) {
        return null;
      }
      Binding binding = bindings[each.policy(0)];
      boolean takesRoom = !each.peeking() && each.permits(0) > 0;
      if (binding == null) {
        return full && takesRoom ? refused(each, Reason.KEY_SPACE_FULL, null) : null;
      }
      one.clear().add(binding, each.fingerprint(0), each.permits(0)).peek();
      if (!replica.store().glance(one, now)) {
        return null; // Its rule has just changed: all replicas compute its state.
      }
      if (!one.allowed()) {
        return refused(each, one.reason(0), one);
      }
      boolean newKey = one.resetAfterNanos(0) == 0;
      return full && newKey && takesRoom ? refused(each, Reason.KEY_SPACE_FULL, null) : null;
    }

    private RefusedOperation moved(OperationReader each) {
      return new RefusedOperation(each.begin(), each.end(), null, 0, 0, 0, now);
    }

    private RefusedOperation refused(OperationReader each, Reason reason, @Nullable Charges said) {
      return said == null
          ? new RefusedOperation(each.begin(), each.end(), reason, 0, RETRY_WHEN_FULL_NANOS, 0, now)
          : new RefusedOperation(
              each.begin(),
              each.end(),
              reason,
              said.remaining(0),
              said.retryAfterNanos(0),
              said.resetAfterNanos(0),
              said.atNanos(0));
    }

    /** Returns an entry of the operations for all replicas; null if there are none. */
    byte @Nullable [] rest() {
      if (!anyLeft) {
        return null;
      }
      ByteWriter out = new ByteWriter();
      int from = 0;
      if (!seats) {
        from = knownPolicies(out);
      }
      for (RefusedOperation each : refusals) {
        out.copy(entry, from, each.begin);
        from = each.end;
      }
      return out.copy(entry, from, entry.length).toBytes();
    }

    /**
     * Writes the beginning of the entry with other policies in place of those that are not known,
     * to which no operation that is left refers. Returns where the operations begin.
     */
    private int knownPolicies(ByteWriter out) {
      OperationReader whole = new OperationReader(entry);
      List<byte[]> policies = whole.policies();
      int known = 0;
      while (known < unknown.length && unknown[known]) {
        known++;
      }
      int count = known == unknown.length ? 0 : unknown.length;
      out.copy(entry, 0, Ledger.STAMP_BYTES + 1).writeNumber(count);
      for (int i = 0; i < count; i++) {
        out.writeBytes(policies.get(unknown[i] ? known : i));
      }
      return whole.firstOperation();
    }

    /** Returns the reply to all operations, merged from the refusals and the reply to the rest. */
    byte[] merged(byte @Nullable [] reply) {
      ClusterReply applied = reply == null ? null : new ClusterReply(reply);
      ReplyWriter out = new ReplyWriter(applied == null ? now : applied.nowNanos());
      OperationReader each = new OperationReader(entry);
      int next = 0;
      while (each.next()) {
        if (next < refusals.size() && refusals.get(next).begin == each.begin()) {
          RefusedOperation refused = refusals.get(next++);
          if (refused.reason == null) {
            out.moved(each);
            continue;
          }
          out.number(0)
              .result(
                  refused.reason,
                  refused.remaining,
                  refused.retryAfterNanos,
                  refused.resetAfterNanos,
                  refused.atNanos);
        } else if (applied != null && reply != null) {
          int from = applied.position();
          applied.skip(each);
          out.copy(reply, from, applied.position());
        }
      }
      return out.toBytes();
    }
  }
}
