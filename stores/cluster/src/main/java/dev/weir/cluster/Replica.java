package dev.weir.cluster;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.MemoryStore;
import dev.weir.Quota;
import dev.weir.Reason;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The state of one group on one member: what the entries of its log have come to. Entries are
 * applied by one thread; other threads may look meanwhile.
 *
 * <p>Every replica decides every entry, by the entry's own time and nothing else, and so comes to
 * the same. Each folds its verdicts into a sum, and compares it with the leader's at each
 * {@linkplain Entry#tick tick}.
 */
final class Replica {
  /*
   * Where may replicas not differ, and why do they not? They decide at the entry's instant, which
   * the leader wrote into it; by policies that stand in the entry itself; on a table that is never
   * full, since a full one would forget in an order that depends on its history (what is too much is
   * refused before the log, see GroupLeader); on one thread. What they may differ in is how many
   * keys they still hold that have reset, which no verdict shows.
   */

  /** Far more policies than rules have; each customer's own limit is one as well. */
  private static final int MOST_POLICIES = 1 << 17;

  /** For how much longer than it can matter a policy is kept that nobody asks for. */
  private static final long KEPT_NANOS = 60_000_000_000L;

  /** Odd, so that multiplying loses nothing. */
  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;

  private final ClusterTime time;
  private final Map<Written, Known> policies = new ConcurrentHashMap<>();
  private final Charges charges = new Charges();
  private volatile MemoryStore store;
  private long sum;
  private volatile Tick lastTick = new Tick(0, 0);
  private volatile boolean diverged;

  /**
   * What a replica had come to after a {@linkplain Entry#tick tick}.
   *
   * @param index of that entry, 0 before the first
   */
  record Tick(long index, long sum) {}

  /** A policy as it is written in entries. */
  private record Written(byte[] bytes) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Written same && Arrays.equals(bytes, same.bytes);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(bytes);
    }
  }

  /** A policy that operations asked for. */
  private static final class Known {
    final ClusterPolicy policy;
    final Binding binding;
    long lastUseNanos;

    Known(ClusterPolicy policy, Binding binding) {
      this.policy = policy;
      this.binding = binding;
    }
  }

  /**
   * @param fingerprint by which all members know keys
   */
  Replica(Fingerprint fingerprint, ClusterTime time) {
    this.time = time;
    this.store = MemoryStore.unbounded(fingerprint);
  }

  /** Returns what is kept, for those who look. */
  MemoryStore store() {
    return store;
  }

  /** Returns the policy as this replica knows it, or null: for those who look. */
  @Nullable Binding known(byte[] policy) {
    Known known = policies.get(new Written(policy));
    return known == null ? null : known.binding;
  }

  /**
   * Returns whether this replica has come to something else than the leader's: it must not answer.
   */
  boolean diverged() {
    return diverged;
  }

  /** Returns what this replica had come to after the last tick. */
  Tick lastTick() {
    return lastTick;
  }

  /**
   * Applies an entry.
   *
   * @return the reply, as {@link ReplyWriter} writes it
   * @throws IllegalArgumentException if the entry makes no sense; nothing has changed then
   */
  byte[] apply(long index, byte[] entry) {
    ByteReader in = new ByteReader(entry, 0);
    long now = time.apply(in.readLong());
    boolean tick = in.readByte() == Entry.Kind.TICK.ordinal();
    byte[] reply = tick ? tick(in, now) : operations(entry, new ReplyWriter(now), now);
    sum = sum * MULTIPLIER + crc(reply);
    if (tick) {
      lastTick = new Tick(index, sum);
    }
    return reply;
  }

  private static long crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return crc.getValue();
  }

  private byte[] tick(ByteReader in, long now) {
    long comparedIndex = in.readNumber();
    long comparedSum = in.readLong();
    Tick own = lastTick;
    if (comparedIndex == own.index && comparedSum != own.sum) {
      diverged = true;
    }
    store.expire(now);
    List<Known> unused = new ArrayList<>();
    for (Known each : policies.values()) {
      if (now - each.lastUseNanos > 2 * each.policy.memoryNanos() + KEPT_NANOS) {
        unused.add(each);
      }
    }
    for (Known each : unused) {
      policies.remove(new Written(each.policy.bytes()));
      String name = each.policy.name();
      if (policies.values().stream().noneMatch(kept -> kept.policy.name().equals(name))) {
        store.retire(name, now);
      }
    }
    return new ReplyWriter(now).toBytes();
  }

  private byte[] operations(byte[] entry, ReplyWriter out, long now) {
    OperationReader each = new OperationReader(entry);
    @Nullable Binding[] bindings = new Binding[each.policies().size()];
    for (int i = 0; i < bindings.length; i++) {
      bindings[i] = bound(new Written(each.policies().get(i)), now);
    }
    while (each.next()) {
      switch (each.kind()) {
        case DECIDE_MANY -> decideMany(each, bindings, out, now);
        case DECIDE_ONE -> decideOne(each, bindings[each.policy(0)], out, now);
        case RECORD -> record(each, bindings[each.policy(0)], out, now);
        case REFUND -> refund(each, bindings[each.policy(0)], out, now);
        case RESET -> {
          Binding binding = bindings[each.policy(0)];
          boolean found = binding != null && store.reset(binding, each.fingerprint(0), now);
          out.number(found ? 1 : 0);
        }
      }
    }
    return out.toBytes();
  }

  /** Returns a policy's binding; null if it cannot be had. */
  private @Nullable Binding bound(Written written, long now) {
    Known known = policies.get(written);
    if (known == null && policies.size() < MOST_POLICIES) {
      ClusterPolicy policy = ClusterPolicy.read(written.bytes);
      Binding binding = newlyBound(policy, now);
      known = binding == null ? null : new Known(policy, binding);
      if (known != null) {
        policies.put(written, known);
      }
    }
    if (known == null) {
      return null;
    }
    known.lastUseNanos = now;
    return known.binding;
  }

  private @Nullable Binding newlyBound(ClusterPolicy policy, long now) {
    ClusterPolicy base = policy.base();
    try {
      if (base == null) {
        return store.bind(policy.name(), policy.policy(), now);
      }
      Binding inForce = bound(new Written(base.bytes()), now);
      return inForce == null ? null : store.variant(inForce, policy.policy());
    } catch (IllegalStateException | IllegalArgumentException e) {
      return null; // It has changed its algorithm or window too often within its windows.
    }
  }

  private void decideMany(
      OperationReader operation, @Nullable Binding[] bindings, ReplyWriter out, long now) {
    charges.clear();
    for (int i = 0; i < operation.charges(); i++) {
      Binding binding = bindings[operation.policy(i)];
      if (binding == null) {
        uncertain(operation, out.number(0), now);
        return;
      }
      charges.add(binding, operation.fingerprint(i), operation.permits(i), operation.role(i));
    }
    if (operation.peeking()) {
      charges.peek();
    }
    if (operation.queued()) {
      charges.maxWait(operation.maxWaitNanos());
    }
    store.decide(charges, now);
    out.number(charges.allowed() ? 1 : 0);
    for (int i = 0; i < charges.size(); i++) {
      out.result(charges, i);
    }
  }

  private static void uncertain(OperationReader operation, ReplyWriter out, long now) {
    for (int i = 0; i < operation.charges(); i++) {
      out.result(Reason.UNCERTAIN, 0, 0, 0, now);
    }
  }

  /** Charges as often as it fits, in one step; then says why not more often. */
  private void decideOne(
      OperationReader operation, @Nullable Binding binding, ReplyWriter out, long now) {
    long permits = operation.permits(0);
    long count = operation.count();
    if (binding == null) {
      uncertain(operation, out.number(0), now);
      return;
    }
    charges.clear().add(binding, operation.fingerprint(0), permits).peek();
    store.decide(charges, now);
    if (!charges.allowed() || count < 1) {
      out.number(0).result(charges, 0);
      return;
    }
    long most = permits == 0 ? count : Math.max(1, charges.remaining(0) / permits);
    long times = Math.min(count, most);
    charges.clear().add(binding, operation.fingerprint(0), times * permits);
    store.decide(charges, now);
    Reason reason = charges.reason(0);
    long remaining = charges.remaining(0);
    long reset = charges.resetAfterNanos(0);
    long at = charges.atNanos(0);
    long retry = 0;
    if (times < count) {
      charges.clear().add(binding, operation.fingerprint(0), permits).peek();
      store.decide(charges, now);
      retry = charges.retryAfterNanos(0);
    }
    out.number(times).result(reason, remaining, retry, reset, at);
  }

  private void record(
      OperationReader operation, @Nullable Binding binding, ReplyWriter out, long now) {
    if (binding == null) {
      uncertain(operation, out, now);
      return;
    }
    charges.clear().add(recording(binding), operation.fingerprint(0), operation.permits(0));
    store.decide(charges, now);
    charges.clear().add(binding, operation.fingerprint(0), 0).peek();
    store.decide(charges, now);
    out.result(charges, 0);
  }

  private Binding recording(Binding binding) {
    return binding.policy().algorithm().bucket()
        ? binding
        : store.variant(binding, binding.policy().withPermits(Quota.MAX_PERMITS));
  }

  private void refund(
      OperationReader operation, @Nullable Binding binding, ReplyWriter out, long now) {
    if (binding == null) {
      out.number(0);
      return;
    }
    long at = operation.atNanos();
    Decision charged =
        new Decision(
            true,
            Reason.WITHIN_LIMIT,
            binding.policy().name(),
            binding.policy().burst(),
            0,
            0,
            operation.resetNanos() - at,
            at);
    out.number(store.refund(binding, operation.fingerprint(0), operation.permits(0), charged, now));
  }

  CompletionStage<?> image(Path file) throws IOException {
    try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW)) {
      DataOutputStream head = new DataOutputStream(out);
      head.writeLong(time.appliedNanos());
      head.writeLong(sum);
      head.writeLong(lastTick.index);
      head.writeLong(lastTick.sum);
      head.flush();
      long keys = store.save(out);
      assert keys >= 0;
    }
    return CompletableFuture.completedStage(null);
  }

  void restore(Path file) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      long now = in.readLong();
      sum = in.readLong();
      lastTick = new Tick(in.readLong(), in.readLong());
      long most = Long.MAX_VALUE / 2;
      store = MemoryStore.restored(in, most, most, now, now);
      time.restore(now);
      policies.clear();
    }
  }
}
