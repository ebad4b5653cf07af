package dev.weir.cluster.internal.state;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.Image;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.LevelException;
import dev.weir.cluster.internal.peer.Levels;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The state of one group on one member: the result of the entries of its log. Entries are applied
 * by one thread; other threads may read meanwhile.
 *
 * <p>Every replica decides every entry, by the entry's own time and nothing else, and so has the
 * same result. Each folds its decisions into a sum, and compares that with the leader's at each
 * {@linkplain Entry#tick tick}.
 */
public final class Replica {
  /*
   * Where may replicas not differ, and why do they not? They decide at the entry's instant, which
   * the leader wrote into it; by policies in the entry itself; on a table that is never full, since
   * a full one would remove keys in an order that depends on its history (keys beyond the bound are
   * refused before the log, see GroupLeader); on one thread. They may differ only in the number of
   * keys that they still hold after their reset, which no decision shows.
   */

  /** Odd, so that a multiplication loses nothing. */
  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;

  /** Room for all keys: their bound is checked before the log. */
  private static final long MOST = Long.MAX_VALUE / 2;

  /** The smallest step of the calendar: the store remembers each step. */
  static final long LEAST_STEP_NANOS = 50_000_000L;

  private final ClusterTime time;
  private final Executor imaging;
  private final Consumer<? super String> log;
  private final KnownPolicies policies = new KnownPolicies();
  private final Charges charges = new Charges();
  private volatile MemoryStore store;
  private volatile GroupSlots slots;
  private long sum;

  /** The latest instant for which permits were ever charged. */
  private long latestChargeNanos = Long.MIN_VALUE;

  private volatile Tick lastTick = new Tick(0, 0);
  private volatile boolean diverged;
  private volatile @Nullable Image image;

  /** The levels that this process understands. */
  private Levels able = Levels.HERE;

  private volatile int level = Levels.FIRST;

  /** Null in all groups but group 0. */
  private volatile @Nullable ClusterMap map;

  /**
   * The sum of a replica after a {@linkplain Entry#tick tick}.
   *
   * @param index of that entry, 0 before the first
   */
  public record Tick(long index, long sum) {}

  /**
   * Creates a replica.
   *
   * @param fingerprint of keys, the same at all members
   * @param slots of the group when its log begins; used by this replica alone
   * @param imaging writes images
   */
  public Replica(
      Fingerprint fingerprint,
      GroupSlots slots,
      ClusterTime time,
      Executor imaging,
      Consumer<? super String> log) {
    this(MemoryStore.unbounded(fingerprint), slots, time, imaging, log);
  }

  /** Creates a replica of a group that has all slots. */
  public Replica(
      Fingerprint fingerprint, ClusterTime time, Executor imaging, Consumer<? super String> log) {
    this(MemoryStore.unbounded(fingerprint), time, imaging, log);
  }

  /**
   * Creates a replica of a group that has all slots.
   *
   * @param store has room for all keys
   */
  public Replica(
      MemoryStore store, ClusterTime time, Executor imaging, Consumer<? super String> log) {
    this(store, new GroupSlots(slot -> true), time, imaging, log);
  }

  private Replica(
      MemoryStore store,
      GroupSlots slots,
      ClusterTime time,
      Executor imaging,
      Consumer<? super String> log) {
    this.store = store;
    this.slots = slots;
    this.time = time;
    this.imaging = imaging;
    this.log = log;
  }

  /**
   * Makes this replica keep the cluster's map, beginning with the given one. To be called first.
   */
  public Replica beginningWith(ClusterMap first) {
    map = first;
    level = first.level();
    return this;
  }

  /** Makes this replica stop at entries beyond these levels. To be called first. */
  public Replica understanding(Levels levels) {
    able = levels;
    return this;
  }

  /** Returns the level at which this replica applies and writes, see {@link Levels}. */
  public int level() {
    return level;
  }

  /** Returns the cluster's map; null if this is no replica of group 0. */
  @Nullable
  public ClusterMap map() {
    return map;
  }

  /** Returns the slots that the group decides. */
  public GroupSlots slots() {
    return slots;
  }

  /** Returns the store of the group's keys. */
  public MemoryStore store() {
    return store;
  }

  /** Returns the binding of a policy in this replica, or null. */
  @Nullable
  public Binding known(byte[] policy) {
    return policies.known(policy);
  }

  /** Returns whether the sum of this replica differs from the leader's: then it must not answer. */
  public boolean diverged() {
    return diverged;
  }

  /** Returns the sum of this replica after the last tick. */
  public Tick lastTick() {
    return lastTick;
  }

  /**
   * Applies an entry.
   *
   * @return the reply, as {@link ReplyWriter} writes it
   * @throws IllegalArgumentException if the entry is invalid; then nothing has changed
   * @throws LevelException if this process does not understand it; then nothing has changed, and no
   *     later entry must be applied
   */
  public byte[] apply(long index, byte[] entry) {
    ByteReader in = new ByteReader(entry, 0);
    long stamp = in.readLong();
    int kind = in.readByte();
    boolean tick = kind == Entry.TICK;
    byte[] reply;
    if (kind == Entry.MAP) {
      reply = mapped(in, stamp);
    } else if (tick) {
      Tick compared = new Tick(in.readNumber(), in.readLong());
      reply = tick(compared, time.apply(stamp));
    } else if (kind == Entry.CALENDAR) {
      reply = calendar(in.readLong(), stamp);
    } else if (kind == Entry.SLOT) {
      SlotEntry of = SlotEntry.read(in);
      long now = time.apply(stamp);
      ByteWriter out = new ByteWriter();
      slots.apply(of, store, now, latestChargeNanos).write(out);
      reply = out.toBytes();
    } else if (kind == Entry.LEVEL) {
      reply = levelled(in, stamp);
    } else if (kind > Entry.MOST_KIND) {
      throw new LevelException(
          "entry: kind "
              + kind
              + " (expected: 0.."
              + Entry.MOST_KIND
              + "): this version of Weir is too old for it");
    } else {
      verify(entry);
      long now = time.apply(stamp);
      reply = operations(entry, new ReplyWriter(now), now);
    }
    sum = sum * MULTIPLIER + crc(reply);
    if (tick && index != lastTick.index) { // Otherwise a part of one bundle with the last.
      lastTick = new Tick(index, sum);
    }
    return reply;
  }

  private byte[] levelled(ByteReader in, long stamp) {
    int next = in.readNumber(Levels.FIRST, Integer.MAX_VALUE);
    able.check(next, "entry");
    level = Math.max(level, next);
    return new ReplyWriter(time.apply(stamp)).number(level).toBytes();
  }

  private byte[] mapped(ByteReader in, long stamp) {
    ClusterMap own = map;
    long expected = in.readNumber();
    ClusterMap next = ClusterMap.read(in);
    if (own == null || !in.atEnd() || next.epoch() != expected + 1) {
      throw new IllegalArgumentException(
          "map of epoch " + next.epoch() + " after " + expected + " (expected: in group 0 only)");
    }
    if (next.level() > level) {
      throw new IllegalArgumentException(
          "map of level " + next.level() + " (expected: at most " + level + ", the group's)");
    }
    if (own.epoch() == expected && own.level() <= next.level()) {
      own = next;
      map = next;
    }
    return new ReplyWriter(time.apply(stamp)).map(own).toBytes();
  }

  private byte[] calendar(long wallNanos, long stamp) {
    if (Math.abs(wallNanos) > Ticker.HORIZON_NANOS) {
      throw new IllegalArgumentException("calendar: " + wallNanos);
    }
    if (level < Levels.CALENDAR) {
      throw new IllegalArgumentException(
          "calendar at level " + level + " (expected: at least " + Levels.CALENDAR + ")");
    }
    long now = time.apply(stamp);
    long offset = wallNanos - now;
    if (offset - store.calendarOffsetNanos() >= LEAST_STEP_NANOS) {
      boolean unused = store.stepCalendar(offset, now);
    }
    return new ByteWriter().writeLong(now).writeLong(store.calendarOffsetNanos()).toBytes();
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
      if (known(each) == null && ClusterPolicy.read(each).countsSeats()) {
        checkSeats();
      }
    }
    while (whole.next()) {
      if (whole.kind() == OperationReader.Kind.RENEW) {
        checkSeats();
      }
    }
  }

  /** Finds an entry with seats as senseless as a replica does that does not know them. */
  private void checkSeats() {
    if (level < Levels.SEATS) {
      throw new IllegalArgumentException(
          "seats at level " + level + " (expected: at least " + Levels.SEATS + ")");
    }
  }

  private byte[] tick(Tick compared, long now) {
    Tick own = lastTick;
    if (compared.index == own.index && compared.sum != own.sum) {
      diverged = true;
    }
    store.expire(now);
    policies.expire(store, now);
    return new ReplyWriter(now).toBytes();
  }

  private byte[] operations(byte[] entry, ReplyWriter out, long now) {
    OperationReader each = new OperationReader(entry);
    @Nullable Binding[] bindings = new Binding[each.policies().size()];
    for (int i = 0; i < bindings.length; i++) {
      bindings[i] = policies.bound(store, each.policies().get(i), now);
    }
    while (each.next()) {
      if (!slots.decides(each)) {
        out.moved(each);
        continue;
      }
      switch (each.kind()) {
        case DECIDE_MANY -> decideMany(each, bindings, out, now);
        case DECIDE_ONE -> decideOne(each, bindings[each.policy(0)], out, now);
        case RECORD -> record(each, bindings[each.policy(0)], out, now);
        case REFUND -> refund(each, bindings[each.policy(0)], out, now);
        case RENEW -> renew(each, bindings[each.policy(0)], out, now);
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

  /** Makes an image that is being written copy the states that the next step may change. */
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
      charged(charges.atNanos(i) + (charges.queued() ? charges.retryAfterNanos(i) : 0));
      out.result(
          charges.reason(i),
          charges.remaining(i),
          charges.retryAfterNanos(i),
          charges.resetAfterNanos(i),
          shownNanos(
              charges.binding(i), charges.fingerprint(i), charges.reason(i), charges.atNanos(i)));
    }
  }

  /** Returns the instant of a decision as its caller has it: that of a seat has a mark. */
  private long shownNanos(Binding binding, long fingerprint, Reason reason, long atNanos) {
    boolean seat = isSeats(binding) && reason == Reason.WITHIN_LIMIT;
    return seat ? atNanos + slots.seatMark(fingerprint) : atNanos;
  }

  private static boolean isSeats(Binding binding) {
    return binding.policy().algorithm() == Algorithm.CONCURRENCY;
  }

  private static void uncertain(OperationReader operation, ReplyWriter out, long now) {
    for (int i = 0; i < operation.charges(); i++) {
      out.result(Reason.UNCERTAIN, 0, 0, 0, now);
    }
  }

  private void charged(long atNanos) {
    latestChargeNanos = Math.max(latestChargeNanos, atNanos);
  }

  /**
   * Charges the permits as many times as they fit, in one step; the result has the reason for the
   * rest.
   */
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
    charged(at);
    long retry = 0;
    if (times < count) {
      charges.clear().add(binding, operation.fingerprint(0), permits).peek();
      store.decide(charges, now);
      retry = charges.retryAfterNanos(0);
    }
    long shown = shownNanos(binding, operation.fingerprint(0), reason, at);
    out.number(times).result(reason, remaining, retry, reset, shown);
  }

  private void record(
      OperationReader operation, @Nullable Binding binding, ReplyWriter out, long now) {
    if (binding == null) {
      uncertain(operation, out, now);
      return;
    }
    before(binding, operation.fingerprint(0));
    Decision after = store.record(binding, operation.fingerprint(0), operation.permits(0), now);
    charged(after.atNanos());
    out.result(
        after.reason(),
        after.remaining(),
        after.retryAfterNanos(),
        after.resetAfterNanos(),
        after.atNanos());
  }

  private void refund(
      OperationReader operation, @Nullable Binding binding, ReplyWriter out, long now) {
    if (binding == null || !isCovered(operation, binding)) {
      out.number(0);
      return;
    }
    before(binding, operation.fingerprint(0));
    Decision charged = charged(operation, binding);
    out.number(store.refund(binding, operation.fingerprint(0), operation.permits(0), charged, now));
  }

  /**
   * Returns whether the charge that an operation names may have been made here, and not before a
   * move. A seat from before a move has another mark, so that it is not found.
   */
  private boolean isCovered(OperationReader operation, Binding binding) {
    return isSeats(binding) || slots.covers(operation.fingerprint(0), operation.atNanos());
  }

  /** Returns the decision that an operation names. */
  private Decision charged(OperationReader operation, Binding binding) {
    Policy policy = binding.policy();
    long mark = isSeats(binding) ? slots.seatMark(operation.fingerprint(0)) : 0;
    return new Decision(
        true,
        Reason.WITHIN_LIMIT,
        policy.name(),
        policy.burst(),
        0,
        0,
        operation.resetNanos() - operation.atNanos(),
        operation.atNanos() - mark);
  }

  private void renew(
      OperationReader operation, @Nullable Binding binding, ReplyWriter out, long now) {
    if (binding == null || !isCovered(operation, binding)) {
      out.number(0);
      return;
    }
    before(binding, operation.fingerprint(0));
    Decision charged = charged(operation, binding);
    boolean held = store.renew(binding, operation.fingerprint(0), charged, now);
    out.number(held ? 1 : 0);
  }

  /**
   * Writes an image of this state, while entries may go on to be applied.
   *
   * @return completes when the file is complete
   */
  public CompletionStage<?> image(Path file) throws IOException {
    return image(
        new BufferedOutputStream(Files.newOutputStream(file, StandardOpenOption.CREATE_NEW)));
  }

  /** Writes an image like {@link #image(Path)}, to a stream, which it closes. */
  public CompletionStage<?> image(OutputStream out) throws IOException {
    Image begun;
    try {
      DataOutputStream head = new DataOutputStream(out);
      head().write(head);
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

  private ReplicaHead head() {
    return new ReplicaHead(
        level, time.appliedNanos(), sum, lastTick, map, latestChargeNanos, slots, policies.uses());
  }

  private synchronized void ended(Image one) {
    image = image == one ? null : image;
  }

  /**
   * Replaces the state by an image.
   *
   * @throws IOException if it cannot be read, or is damaged; then nothing has changed
   * @throws LevelException if it has a level that this process does not understand; then nothing
   *     has changed
   */
  public void restore(Path file) throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
      restore(in);
    }
  }

  /** Replaces the state like {@link #restore(Path)}, from a stream. */
  public void restore(InputStream from) throws IOException {
    DataInputStream in = new DataInputStream(from);
    try {
      ReplicaHead head = ReplicaHead.read(in, able);
      MemoryStore restored = MemoryStore.resumed(in, MOST, MOST);
      KnownPolicies known = new KnownPolicies(restored, head.policies());
      Image open = image;
      if (open != null) {
        open.close();
        ended(open);
      }
      policies.become(known);
      store = restored;
      head.slots().movedToo(slots);
      slots = head.slots();
      latestChargeNanos = head.latestChargeNanos();
      sum = head.sum();
      lastTick = head.tick();
      map = head.map();
      time.restore(head.nowNanos());
      level = head.level();
    } catch (LevelException e) {
      throw e;
    } catch (RuntimeException e) { // Thrown for numbers that no policy can have.
      throw new IOException("damaged: " + e.getMessage(), e);
    }
  }
}
