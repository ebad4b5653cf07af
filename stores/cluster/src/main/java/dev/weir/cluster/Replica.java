package dev.weir.cluster;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.Image;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
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

  /** Room for all keys: what bounds them is before the log. */
  private static final long MOST = Long.MAX_VALUE / 2;

  private static final int MAGIC = 0x57454947; // WEIG

  private final ClusterTime time;
  private final Executor imaging;
  private final Consumer<? super String> log;
  private final Map<Written, Known> policies = new ConcurrentHashMap<>();
  private final Charges charges = new Charges();
  private volatile MemoryStore store;
  private long sum;
  private volatile Tick lastTick = new Tick(0, 0);
  private volatile boolean diverged;
  private volatile @Nullable Image image;

  /**
   * What a replica had come to after a {@linkplain Entry#tick tick}.
   *
   * @param index of that entry, 0 before the first
   */
  record Tick(long index, long sum) {}

  /** A policy as it is written in entries. */
  private static final class Written {
    private final byte[] bytes;

    Written(byte[] bytes) {
      this.bytes = bytes;
    }

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

    Known(ClusterPolicy policy, Binding binding, long lastUseNanos) {
      this.policy = policy;
      this.binding = binding;
      this.lastUseNanos = lastUseNanos;
    }
  }

  /**
   * @param fingerprint by which all members know keys
   * @param imaging writes images
   */
  Replica(
      Fingerprint fingerprint, ClusterTime time, Executor imaging, Consumer<? super String> log) {
    this(MemoryStore.unbounded(fingerprint), time, imaging, log);
  }

  /**
   * @param store has room for all keys
   */
  Replica(MemoryStore store, ClusterTime time, Executor imaging, Consumer<? super String> log) {
    this.store = store;
    this.time = time;
    this.imaging = imaging;
    this.log = log;
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
    long stamp = in.readLong();
    boolean tick = in.readByte() == Entry.TICK;
    byte[] reply;
    if (tick) {
      Tick compared = new Tick(in.readNumber(), in.readLong());
      reply = tick(compared, time.apply(stamp));
    } else {
      verify(entry);
      long now = time.apply(stamp);
      reply = operations(entry, new ReplyWriter(now), now);
    }
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

  /** Reads all of an entry before any of it is decided. */
  private void verify(byte[] entry) {
    OperationReader whole = new OperationReader(entry);
    for (byte[] each : whole.policies()) {
      if (known(each) == null) {
        ClusterPolicy unused = ClusterPolicy.read(each);
      }
    }
    whole.readAll();
  }

  private byte[] tick(Tick compared, long now) {
    Tick own = lastTick;
    if (compared.index == own.index && compared.sum != own.sum) {
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
          before(binding, each.fingerprint(0));
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
      known = binding == null ? null : new Known(policy, binding, now);
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

  /** Has an image that is being written copy what the next step may change. */
  private void before(@Nullable Binding binding, long fingerprint) {
    Image open = image;
    if (open != null && binding != null) {
      open.before(binding, fingerprint);
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
      before(binding, operation.fingerprint(i));
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
    before(binding, operation.fingerprint(0));
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
    before(binding, operation.fingerprint(0));
    Decision after = store.record(binding, operation.fingerprint(0), operation.permits(0), now);
    out.result(
        after.reason(),
        after.remaining(),
        after.retryAfterNanos(),
        after.resetAfterNanos(),
        after.atNanos());
  }

  private void refund(
      OperationReader operation, @Nullable Binding binding, ReplyWriter out, long now) {
    if (binding == null) {
      out.number(0);
      return;
    }
    before(binding, operation.fingerprint(0));
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

  /**
   * Writes an image of this state, while entries may go on to be applied.
   *
   * @return completes when the file is complete
   */
  CompletionStage<?> image(Path file) throws IOException {
    OutputStream out =
        new BufferedOutputStream(Files.newOutputStream(file, StandardOpenOption.CREATE_NEW));
    Image begun;
    try {
      DataOutputStream head = new DataOutputStream(out);
      head.writeInt(MAGIC);
      head.writeLong(time.appliedNanos());
      head.writeLong(sum);
      head.writeLong(lastTick.index);
      head.writeLong(lastTick.sum);
      head.writeInt(policies.size());
      for (Known each : policies.values()) {
        head.writeInt(each.policy.bytes().length);
        head.write(each.policy.bytes());
        head.writeLong(each.lastUseNanos);
      }
      head.flush();
      begun = store.beginImage();
    } catch (IOException | RuntimeException e) {
      out.close();
      throw e;
    }
    synchronized (this) {
      image = begun;
    }
    return CompletableFuture.runAsync(
        () -> {
          try (out) {
            long keys = begun.write(out);
            log.accept("cluster: an image of " + keys + " keys is written");
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          } finally {
            ended(begun);
          }
        },
        imaging);
  }

  private synchronized void ended(Image one) {
    image = image == one ? null : image;
  }

  /**
   * Goes on from an image.
   *
   * @throws IOException if it cannot be read, or is damaged; nothing has changed then
   */
  void restore(Path file) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      if (in.readInt() != MAGIC) {
        throw new IOException("no image of a group (expected: one, which begins with WEIG)");
      }
      long now = in.readLong();
      long restoredSum = in.readLong();
      Tick tick = new Tick(in.readLong(), in.readLong());
      int count = in.readInt();
      List<ClusterPolicy> asked = new ArrayList<>();
      List<Long> lastUses = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        asked.add(ClusterPolicy.read(in.readNBytes(in.readInt())));
        lastUses.add(in.readLong());
      }
      MemoryStore restored = MemoryStore.resumed(in, MOST, MOST);
      Map<Written, Known> known = new HashMap<>();
      for (int i = 0; i < count; i++) {
        ClusterPolicy each = asked.get(i);
        known.put(
            new Written(each.bytes()), new Known(each, rebound(restored, each), lastUses.get(i)));
      }
      Image open = image;
      if (open != null) {
        open.close();
        ended(open);
      }
      policies.clear();
      policies.putAll(known);
      store = restored;
      sum = restoredSum;
      lastTick = tick;
      time.restore(now);
    } catch (RuntimeException e) { // By numbers that no policy can have.
      throw new IOException("damaged: " + e.getMessage(), e);
    }
  }

  private static Binding rebound(MemoryStore restored, ClusterPolicy policy) {
    ClusterPolicy base = policy.base();
    return base == null
        ? restored.rebound(policy.name(), policy.policy())
        : restored.reboundVariant(rebound(restored, base), policy.policy());
  }
}
