package dev.weir.cluster.internal.state;

import dev.weir.Charges.Role;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.peer.ByteReader;
import java.util.ArrayList;
import java.util.List;

/**
 * A reader of an entry's operations, one after the other. Every method may throw {@link
 * IllegalArgumentException} if the entry is invalid. Not safe for use by several threads at once.
 */
public final class OperationReader {
  /**
   * The kind of an operation, as in {@code dev.weir.shared.Call}. The numbers must never change.
   */
  public enum Kind {
    DECIDE_MANY(0),
    DECIDE_ONE(1),
    RECORD(2),
    REFUND(3),
    RESET(4),
    RENEW(5);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }
  }

  /** The most charges of an operation; far more than a request has. */
  private static final int MOST_CHARGES = 1 << 12;

  /** The longest wait, the same as in {@code dev.weir.Charges}. */
  private static final long MOST_WAIT_NANOS = 1L << 60;

  /** The kinds by their numbers. */
  private static final Kind[] KINDS = Kind.values();

  private final ByteReader in;
  private final List<byte[]> policies = new ArrayList<>();
  private final int firstOperation;

  private int begin;
  private Kind kind = Kind.DECIDE_MANY;
  private boolean peeking;
  private boolean queued;
  private long maxWaitNanos;
  private int charges;
  private int[] numbers = new int[1];
  private long[] fingerprints = new long[1];
  private long[] permits = new long[1];
  private Role[] roles = new Role[1];
  private long count;
  private long atNanos;
  private long resetNanos;

  /**
   * Creates a reader.
   *
   * @param entry of kind {@link Entry#OPERATIONS}
   */
  public OperationReader(byte[] entry) {
    in = new ByteReader(entry, Ledger.STAMP_BYTES);
    if (in.readByte() != Entry.OPERATIONS) {
      throw new IllegalArgumentException("entry: of another kind (expected: operations)");
    }
    int known = in.readCount();
    for (int i = 0; i < known; i++) {
      policies.add(in.readBytes());
    }
    firstOperation = in.position();
  }

  /** Returns the policies, to which {@link #policy} refers. */
  public List<byte[]> policies() {
    return policies;
  }

  /** Returns the offset of the first operation. */
  public int firstOperation() {
    return firstOperation;
  }

  /** Reads the next operation; returns whether there was one. */
  public boolean next() {
    if (in.atEnd()) {
      return false;
    }
    begin = in.position();
    int code = in.readByte();
    if (code >= KINDS.length) {
      throw new IllegalArgumentException("operation: kind " + code);
    }
    kind = KINDS[code];
    charges = 1;
    peeking = false;
    queued = false;
    maxWaitNanos = 0;
    switch (kind) {
      case DECIDE_MANY -> readMany();
      case DECIDE_ONE -> {
        readKey();
        permits[0] = in.readNumber();
        count = in.readNumber();
      }
      case RECORD -> {
        readKey();
        permits[0] = readPermits();
      }
      case REFUND -> {
        readKey();
        permits[0] = readPermits();
        atNanos = in.readNumber();
        resetNanos = atNanos + in.readNumber();
      }
      case RESET -> readKey();
      case RENEW -> {
        readKey();
        atNanos = in.readNumber();
        resetNanos = atNanos;
      }
    }
    return true;
  }

  private long readPermits() {
    long some = in.readNumber();
    if (some < 0) {
      throw new IllegalArgumentException("permits: " + some + " (expected: at least 0)");
    }
    return some;
  }

  private void readMany() {
    int flags = in.readByte();
    peeking = (flags & 1) != 0;
    queued = (flags & 2) != 0;
    maxWaitNanos = in.readNumber();
    charges = in.readCount();
    if (charges > MOST_CHARGES || (queued && charges != 1)) {
      throw new IllegalArgumentException("operation: " + charges + " charges");
    }
    if (maxWaitNanos < 0 || maxWaitNanos > MOST_WAIT_NANOS) {
      throw new IllegalArgumentException("operation: waits " + maxWaitNanos + " ns");
    }
    if (charges > numbers.length) {
      numbers = new int[charges];
      fingerprints = new long[charges];
      permits = new long[charges];
      roles = new Role[charges];
    }
    for (int i = 0; i < charges; i++) {
      roles[i] = Codes.role(in.readByte());
      readKey(i);
      permits[i] = in.readNumber();
    }
    if (queued && roles[0].isReport()) {
      throw new IllegalArgumentException("operation: a report that waits");
    }
  }

  private void readKey() {
    readKey(0);
  }

  private void readKey(int i) {
    long number = in.readNumber();
    if (number < 0 || number >= policies.size()) {
      throw new IllegalArgumentException(
          "operation: policy " + number + " (expected: 0.." + (policies.size() - 1) + ")");
    }
    numbers[i] = (int) number;
    fingerprints[i] = in.readLong();
  }

  public Kind kind() {
    return kind;
  }

  /** Returns the offset at which the operation begins in the entry. */
  public int begin() {
    return begin;
  }

  /** Returns the offset at which the operation ends in the entry. */
  public int end() {
    return in.position();
  }

  public boolean peeking() {
    return peeking;
  }

  public boolean queued() {
    return queued;
  }

  long maxWaitNanos() {
    return maxWaitNanos;
  }

  public int charges() {
    return charges;
  }

  public int policy(int i) {
    return numbers[i];
  }

  public long fingerprint(int i) {
    return fingerprints[i];
  }

  public long permits(int i) {
    return permits[i];
  }

  public Role role(int i) {
    return roles[i];
  }

  /** Returns how many times the permits are requested, for {@link Kind#DECIDE_ONE}. */
  long count() {
    return count;
  }

  /**
   * Returns the instant for which the permits of a {@link Kind#REFUND} or a {@link Kind#RENEW} were
   * charged.
   */
  long atNanos() {
    return atNanos;
  }

  /** Returns the instant at which the key would have been reset after the charge of a refund. */
  long resetNanos() {
    return resetNanos;
  }
}
