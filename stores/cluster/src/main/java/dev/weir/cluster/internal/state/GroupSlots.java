package dev.weir.cluster.internal.state;

import dev.weir.MemoryStore;
import dev.weir.cluster.internal.map.Placement;
import dev.weir.cluster.internal.peer.ByteWriter;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntPredicate;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The slots that a group decides, and its parts of those that move: a part of the state of its
 * {@link Replica}. Changed by the thread that applies; other threads may read meanwhile.
 */
public final class GroupSlots {
  /*
   * Why does a slot never have two groups that decide it? Each group's log has one order. The group
   * that has the slot decides it up to FREEZE, and lifts its keys in that step; the bytes exist
   * nowhere before. The other one decides it from ACTIVATE on, for which it must have all of those
   * bytes, under the same epoch. An epoch is used for one move only. A command is void unless its
   * epoch is later than the last one, or exactly that of the move in progress:
   *
   *   had        OWNED --FREEZE e--> FROZEN e --DROP e--> AWAY e
   *                                  FROZEN e --THAW e2 > e--> OWNED e2
   *   will have  AWAY --INSTALL e--> ARRIVING e --ACTIVATE e--> OWNED e
   *                                  ARRIVING e, AWAY --ABORT e--> AWAY e
   *
   * The mover thaws the slot only when the reply to ABORT shows that it is not OWNED there, and
   * drops the lifted bytes only when the reply to ACTIVATE shows that it is. A FREEZE that comes
   * after THAW, or an INSTALL or ACTIVATE after ABORT, is of an epoch that is not later than the
   * slot's, and void; so messages may come arbitrarily late, from any number of movers.
   *
   * The time of the keys is converted from the one log's to the other's, see MemoryStore.lay.
   * Permits that were charged before a move are never given back: the instants by which a refund
   * names its charge are those of the other log, and might stand for another charge here. As long as
   * this log's time is behind the other's, that holds for charges here too. A seat has to be known
   * at any time, so its instant has a mark of the slot's epoch instead, beyond its whole
   * microseconds. One from before a move has another mark: it is neither renewed nor given back, and
   * free after its hold.
   */

  /** The most bytes of a slot; more than its keys take, as there are 4,096 slots. */
  static final int MOST_BYTES = 1 << 28;

  private static final long NANOS_PER_MICRO = 1_000;

  /** The phase of a slot in a group. The numbers must never change. */
  public enum Phase {
    AWAY(0),
    OWNED(1),
    FROZEN(2),
    ARRIVING(3);

    private final int code;

    Phase(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }
  }

  private static final Phase[] PHASES = Phase.values();

  private final Phase[] phases = new Phase[Placement.SLOTS];
  private final long[] epochs = new long[Placement.SLOTS];
  private final long[] refundsAfterNanos = new long[Placement.SLOTS];
  private final Map<Integer, FrozenSlot> frozen = new ConcurrentHashMap<>();
  private final Map<Integer, ArrivingSlot> arriving = new TreeMap<>();

  /** The number of slots that have come here since this process began. */
  private final LongAdder moved = new LongAdder();

  /** A bit for each slot that is decided here. */
  private final AtomicLongArray decided = new AtomicLongArray(Placement.SLOTS / Long.SIZE);

  /** The lifted bytes of a slot, kept until they are known to have arrived. */
  private static final class FrozenSlot {
    final long epoch;
    final byte[] lifted;
    final long thenNanos;
    final long refundsAfterNanos;

    FrozenSlot(long epoch, byte[] lifted, long thenNanos, long refundsAfterNanos) {
      this.epoch = epoch;
      this.lifted = lifted;
      this.thenNanos = thenNanos;
      this.refundsAfterNanos = refundsAfterNanos;
    }
  }

  /** The bytes of a slot that have come so far. */
  private static final class ArrivingSlot {
    final int size;
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    ArrivingSlot(int size) {
      this.size = size;
    }
  }

  /**
   * Creates the slots.
   *
   * @param owned returns true for the slots of the group when its log begins
   */
  public GroupSlots(IntPredicate owned) {
    Arrays.fill(refundsAfterNanos, Long.MIN_VALUE);
    for (int slot = 0; slot < phases.length; slot++) {
      phase(slot, owned.test(slot) ? Phase.OWNED : Phase.AWAY);
    }
  }

  static Phase phase(int code) {
    if (code >= PHASES.length) {
      throw new IllegalArgumentException("slot: phase " + code);
    }
    return PHASES[code];
  }

  private void phase(int slot, Phase now) {
    phases[slot] = now;
    int word = slot / Long.SIZE;
    long bit = 1L << slot;
    decided.set(word, now == Phase.OWNED ? decided.get(word) | bit : decided.get(word) & ~bit);
  }

  /** Returns whether all keys of an operation are decided here. May be called by any thread. */
  public boolean decides(OperationReader operation) {
    for (int i = 0; i < operation.charges(); i++) {
      int slot = Placement.slot(operation.fingerprint(i));
      if ((decided.get(slot / Long.SIZE) & 1L << slot) == 0) {
        return false;
      }
    }
    return true;
  }

  /** Returns the phase of a slot here. */
  public Phase phaseOf(int slot) {
    return phases[slot];
  }

  /**
   * Returns the mark of seats that are taken now: nanoseconds that are added to their instants. 0
   * before the first move; 1 is the mark of decisions that a process makes by itself.
   */
  long seatMark(long fingerprint) {
    long epoch = epochs[Placement.slot(fingerprint)];
    return epoch == 0 ? 0 : 2 + epoch % (NANOS_PER_MICRO - 2);
  }

  /** Returns whether a charge for an instant was made here, and not before a move. */
  boolean covers(long fingerprint, long atNanos) {
    return atNanos > refundsAfterNanos[Placement.slot(fingerprint)];
  }

  /**
   * Returns the lifted bytes of a slot under an epoch, or null if it is not frozen under that. May
   * be called by any thread, since they do not change.
   */
  public byte @Nullable [] lifted(int slot, long epoch) {
    FrozenSlot known = frozen.get(slot);
    return known == null || known.epoch != epoch ? null : known.lifted;
  }

  /**
   * Returns the number of slots that were taken over from other groups since this process began.
   */
  public long moved() {
    return moved.sum();
  }

  /** Continues the count of another object, which this one replaces. */
  void movedToo(GroupSlots before) {
    moved.add(before.moved());
  }

  /** Returns the number of slots that are frozen now. */
  public int frozen() {
    return frozen.size();
  }

  private static long first(int slot) {
    return (long) slot << Placement.SHIFT;
  }

  private static long last(int slot) {
    return first(slot) | -1L >>> (Long.SIZE - Placement.SHIFT);
  }

  private static long crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return crc.getValue();
  }

  /**
   * Applies an entry.
   *
   * @param latestNanos the latest instant for which permits were ever charged in this group
   */
  SlotEntry.State apply(SlotEntry entry, MemoryStore store, long nowNanos, long latestNanos) {
    int slot = entry.slot();
    switch (entry.verb()) {
      case FREEZE -> freeze(slot, entry.epoch(), store, nowNanos, latestNanos);
      case INSTALL -> install(entry);
      case ACTIVATE -> activate(entry, store, nowNanos);
      case ABORT -> abort(slot, entry.epoch());
      case DROP -> drop(slot, entry.epoch());
      case THAW -> thaw(slot, entry.epoch(), store);
    }
    return state(slot, nowNanos);
  }

  private SlotEntry.State state(int slot, long nowNanos) {
    FrozenSlot lifted = frozen.get(slot);
    ArrivingSlot comes = arriving.get(slot);
    return new SlotEntry.State(
        nowNanos,
        phases[slot],
        epochs[slot],
        lifted == null ? 0 : lifted.refundsAfterNanos,
        lifted != null ? lifted.lifted.length : comes != null ? comes.bytes.size() : 0,
        lifted == null ? 0 : crc(lifted.lifted));
  }

  private void freeze(int slot, long epoch, MemoryStore store, long now, long latest) {
    if (phases[slot] != Phase.OWNED || epoch <= epochs[slot]) {
      return;
    }
    byte[] lifted;
    try {
      lifted = store.lift(first(slot), last(slot), now);
    } catch (IllegalStateException e) {
      return; // The past is not known after a restore: the slot stays until it is.
    }
    store.drop(first(slot), last(slot));
    long after = Math.max(Math.max(now, latest), refundsAfterNanos[slot]);
    epochs[slot] = epoch;
    frozen.put(slot, new FrozenSlot(epoch, lifted, now, after));
    phase(slot, Phase.FROZEN);
  }

  private void install(SlotEntry entry) {
    int slot = entry.slot();
    boolean free = phases[slot] == Phase.AWAY || phases[slot] == Phase.ARRIVING;
    if (free && entry.epoch() > epochs[slot]) {
      arriving.put(slot, new ArrivingSlot(entry.size()));
      epochs[slot] = entry.epoch();
      phase(slot, Phase.ARRIVING);
    }
    ArrivingSlot comes = arriving.get(slot);
    if (comes == null || entry.epoch() != epochs[slot] || entry.size() != comes.size) {
      return;
    }
    if (entry.offset() == comes.bytes.size()) {
      comes.bytes.write(entry.chunk(), 0, entry.chunk().length);
    }
  }

  private void activate(SlotEntry entry, MemoryStore store, long now) {
    int slot = entry.slot();
    ArrivingSlot comes = arriving.get(slot);
    if (comes == null || entry.epoch() != epochs[slot] || comes.bytes.size() != comes.size) {
      return;
    }
    byte[] lifted = comes.bytes.toByteArray();
    if (crc(lifted) != entry.crc()) {
      return;
    }
    try {
      store.lay(lifted, now);
    } catch (IOException | IllegalStateException e) {
      return; // All replicas find the same, and the mover finds that the slot still arrives.
    }
    arriving.remove(slot);
    moved.increment();
    refundsAfterNanos[slot] = Math.max(now, entry.refundsAfterNanos());
    phase(slot, Phase.OWNED);
  }

  private void abort(int slot, long epoch) {
    boolean free = phases[slot] == Phase.AWAY || phases[slot] == Phase.ARRIVING;
    if (free && epoch >= epochs[slot]) {
      arriving.remove(slot);
      epochs[slot] = epoch;
      phase(slot, Phase.AWAY);
    }
  }

  private void drop(int slot, long epoch) {
    if (phases[slot] == Phase.FROZEN && epoch == epochs[slot]) {
      frozen.remove(slot);
      phase(slot, Phase.AWAY);
    }
  }

  private void thaw(int slot, long epoch, MemoryStore store) {
    if (epoch <= epochs[slot]) {
      return;
    }
    FrozenSlot lifted = frozen.remove(slot);
    if (lifted != null) {
      try {
        store.lay(lifted.lifted, lifted.thenNanos);
      } catch (IOException e) {
        throw new IllegalStateException("slot " + slot + ": what was lifted here", e);
      }
      refundsAfterNanos[slot] = lifted.refundsAfterNanos;
      phase(slot, Phase.OWNED);
    }
    if (phases[slot] == Phase.OWNED) {
      epochs[slot] = epoch; // A late FREEZE is void.
    }
  }

  /** Writes the slots, for an image. */
  void write(DataOutputStream out) throws IOException {
    ByteWriter fixed = new ByteWriter();
    for (int slot = 0; slot < phases.length; slot++) {
      fixed.writeByte(phases[slot].code());
      fixed.writeLong(epochs[slot]).writeLong(refundsAfterNanos[slot]);
      FrozenSlot lifted = frozen.get(slot);
      ArrivingSlot comes = arriving.get(slot);
      if (lifted != null || comes != null) {
        out.write(fixed.toBytes());
        fixed = new ByteWriter();
      }
      if (lifted != null) {
        out.writeLong(lifted.thenNanos);
        out.writeLong(lifted.refundsAfterNanos);
        out.writeInt(lifted.lifted.length);
        out.write(lifted.lifted);
      } else if (comes != null) {
        out.writeInt(comes.size);
        out.writeInt(comes.bytes.size());
        comes.bytes.writeTo(out);
      }
    }
    out.write(fixed.toBytes());
  }

  /** Reads slots that {@link #write} wrote. */
  static GroupSlots read(DataInputStream in) throws IOException {
    GroupSlots slots = new GroupSlots(slot -> false);
    for (int slot = 0; slot < slots.phases.length; slot++) {
      slots.phase(slot, phase(in.readByte() & 0xff));
      slots.epochs[slot] = in.readLong();
      slots.refundsAfterNanos[slot] = in.readLong();
      if (slots.phases[slot] == Phase.FROZEN) {
        long then = in.readLong();
        long after = in.readLong();
        byte[] lifted = bytes(in, in.readInt());
        slots.frozen.put(slot, new FrozenSlot(slots.epochs[slot], lifted, then, after));
      } else if (slots.phases[slot] == Phase.ARRIVING) {
        ArrivingSlot comes = new ArrivingSlot(in.readInt());
        comes.bytes.writeBytes(bytes(in, in.readInt()));
        slots.arriving.put(slot, comes);
      }
    }
    return slots;
  }

  private static byte[] bytes(DataInputStream in, int size) throws IOException {
    byte[] bytes = size < 0 || size > MOST_BYTES ? new byte[0] : in.readNBytes(size);
    if (bytes.length != size) {
      throw new IOException(
          "damaged: " + bytes.length + " bytes of a slot (expected: " + size + ")");
    }
    return bytes;
  }
}
