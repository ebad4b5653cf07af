package dev.weir.cluster.internal.state;

import dev.weir.cluster.internal.map.Placement;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;

/**
 * An entry about one slot, which moves from a group to another, and the reply to it. All of them
 * may be repeated, and may come late: an entry that does not fit the slot's {@link
 * GroupSlots.Phase} and epoch any more changes nothing, and the reply has the state of the slot.
 */
public final class SlotEntry {
  /** The verbs of entries about a slot. The numbers must never change. */
  public enum Verb {
    /** The group that has it stops deciding it, and lifts its keys. */
    FREEZE(0),
    /** The group that should get it takes a part of the lifted bytes. */
    INSTALL(1),
    /** The new group has all bytes, and decides it from here on. */
    ACTIVATE(2),
    /** The new group never will decide it, under this epoch. */
    ABORT(3),
    /** The former group deletes the lifted bytes. */
    DROP(4),
    /** The former group decides it again, under a later epoch. */
    THAW(5);

    private final int code;

    Verb(int code) {
      this.code = code;
    }
  }

  private static final Verb[] VERBS = Verb.values();
  private static final Chunk NONE = new Chunk(0, 0, new byte[0]);

  private final Verb verb;
  private final int slot;
  private final long epoch;
  private final long crc;
  private final long refundsAfterNanos;
  private final Chunk chunk;

  /**
   * A part of the lifted bytes of a slot.
   *
   * @param offset of the part
   * @param size of all lifted bytes
   */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Chunk(int offset, int size, byte[] bytes) {}

  private SlotEntry(
      Verb verb, int slot, long epoch, long crc, long refundsAfterNanos, Chunk chunk) {
    this.verb = verb;
    this.slot = slot;
    this.epoch = epoch;
    this.crc = crc;
    this.refundsAfterNanos = refundsAfterNanos;
    this.chunk = chunk;
  }

  /**
   * Returns an entry of any verb except {@link Verb#INSTALL} and {@link Verb#ACTIVATE}.
   *
   * @param epoch of the move, one that was never used for this slot before; for {@link Verb#THAW} a
   *     later one
   */
  public static SlotEntry of(Verb verb, int slot, long epoch) {
    return new SlotEntry(verb, slot, epoch, 0, 0, NONE);
  }

  /** Returns an entry that changes nothing, and whose reply has the state of a slot. */
  public static SlotEntry question(int slot) {
    return of(Verb.THAW, slot, 0); // No epoch is earlier.
  }

  /**
   * Returns {@link Verb#INSTALL}.
   *
   * @param offset of the chunk in the lifted bytes
   * @param size of all lifted bytes
   */
  public static SlotEntry install(int slot, long epoch, byte[] chunk, int offset, int size) {
    return new SlotEntry(Verb.INSTALL, slot, epoch, 0, 0, new Chunk(offset, size, chunk));
  }

  /**
   * Returns {@link Verb#ACTIVATE}.
   *
   * @param crc of all lifted bytes
   * @param refundsAfterNanos charges for an instant up to this one may be those of an earlier group
   */
  public static SlotEntry activate(int slot, long epoch, long crc, long refundsAfterNanos) {
    return new SlotEntry(Verb.ACTIVATE, slot, epoch, crc, refundsAfterNanos, NONE);
  }

  public Verb verb() {
    return verb;
  }

  public int slot() {
    return slot;
  }

  public long epoch() {
    return epoch;
  }

  public long crc() {
    return crc;
  }

  public long refundsAfterNanos() {
    return refundsAfterNanos;
  }

  int offset() {
    return chunk.offset();
  }

  int size() {
    return chunk.size();
  }

  byte[] chunk() {
    return chunk.bytes();
  }

  /** Returns the entry, with room for its stamp. */
  public byte[] toEntry() {
    ByteWriter out = new ByteWriter().writeLong(0).writeByte(Entry.SLOT).writeByte(verb.code);
    out.writeNumber(slot).writeNumber(epoch);
    if (verb == Verb.INSTALL) {
      out.writeNumber(chunk.offset()).writeNumber(chunk.size()).writeBytes(chunk.bytes());
    } else if (verb == Verb.ACTIVATE) {
      out.writeLong(crc).writeNumber(refundsAfterNanos);
    }
    return out.toBytes();
  }

  /**
   * Reads an entry, from behind its kind.
   *
   * @throws IllegalArgumentException if it is invalid
   */
  public static SlotEntry read(ByteReader in) {
    int code = in.readByte();
    long slot = in.readNumber();
    if (code >= VERBS.length || slot < 0 || slot >= Placement.SLOTS) {
      throw new IllegalArgumentException("slot: " + slot + ", verb " + code);
    }
    long epoch = in.readNumber();
    return switch (VERBS[code]) {
      case INSTALL -> {
        long offset = in.readNumber();
        long size = in.readNumber();
        byte[] chunk = in.readBytes();
        if (offset < 0 || size < offset + chunk.length || size > GroupSlots.MOST_BYTES) {
          throw new IllegalArgumentException("slot: " + chunk.length + " bytes of " + size);
        }
        yield install((int) slot, epoch, chunk, (int) offset, (int) size);
      }
      case ACTIVATE -> activate((int) slot, epoch, in.readLong(), in.readNumber());
      default -> of(VERBS[code], (int) slot, epoch);
    };
  }

  /**
   * The state of a slot in a group, after an entry.
   *
   * @param epoch the last that mattered to the slot there
   * @param refundsAfterNanos as in {@link SlotEntry#activate}, if it is frozen
   * @param size of the lifted bytes, if it is frozen; of those that have come, if it arrives
   * @param crc of the lifted bytes, if it is frozen
   */
  public record State(
      long nowNanos,
      GroupSlots.Phase phase,
      long epoch,
      long refundsAfterNanos,
      int size,
      long crc) {

    void write(ByteWriter out) {
      out.writeLong(nowNanos).writeByte(phase.code()).writeNumber(epoch);
      out.writeNumber(refundsAfterNanos).writeNumber(size).writeLong(crc);
    }

    public static State read(byte[] reply) {
      ByteReader in = new ByteReader(reply, 0);
      return new State(
          in.readLong(),
          GroupSlots.phase(in.readByte()),
          in.readNumber(),
          in.readNumber(),
          (int) in.readNumber(),
          in.readLong());
    }
  }
}
