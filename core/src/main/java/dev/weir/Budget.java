package dev.weir;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The keys and bytes of state that one name or a whole store has, and their bounds. */
final class Budget {
  private final @Nullable Budget whole;

  /** The budgets whose bounds on keys hold here as well. */
  private volatile List<Budget> names;

  private final long maxBytes;
  private final AtomicLong keys = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private volatile long maxKeys;

  Budget(long maxKeys, long maxBytes) {
    this(null, List.of(), maxKeys, maxBytes);
  }

  private Budget(@Nullable Budget whole, List<Budget> names, long maxKeys, long maxBytes) {
    this.whole = whole;
    this.names = names;
    this.maxKeys = maxKeys;
    this.maxBytes = maxBytes;
  }

  /** Returns a child budget, whose keys and bytes count in this one as well. */
  Budget part() {
    return new Budget(this, List.of(), Long.MAX_VALUE, Long.MAX_VALUE);
  }

  /**
   * Returns a child budget for keys that several names have side by side: each name's bound holds
   * for them.
   */
  Budget part(List<Budget> ofNames) {
    return new Budget(this, List.copyOf(ofNames), Long.MAX_VALUE, Long.MAX_VALUE);
  }

  void maxKeys(long most) {
    maxKeys = most;
  }

  long maxKeys() {
    return whole == null ? most() : Math.min(most(), whole.maxKeys());
  }

  /** Sets the budgets whose bounds on keys hold here as well. */
  void boundBy(List<Budget> ofNames) {
    names = ofNames;
  }

  private long most() {
    List<Budget> now = names;
    long most = maxKeys;
    for (int i = 0; i < now.size(); i++) {
      most = Math.min(most, now.get(i).maxKeys);
    }
    return most;
  }

  /** Returns the bound of this part alone. */
  long ownMaxKeys() {
    return maxKeys;
  }

  long maxBytes() {
    return whole == null ? maxBytes : Math.min(maxBytes, whole.maxBytes());
  }

  /**
   * Takes room for {@code count} more keys, which will take {@code bytesWanted} bytes: for all of
   * them or for none.
   */
  boolean take(int count, long bytesWanted) {
    if (keys.addAndGet(count) <= most()
        && bytes.get() + bytesWanted <= maxBytes
        && (whole == null || whole.take(count, bytesWanted))) {
      return true;
    }
    keys.addAndGet(-count);
    return false;
  }

  /** Counts keys beyond the bound: cells of a sketch, and keys whose counts are there already. */
  void add(int count) {
    giveBack(-count);
  }

  void giveBack(int count) {
    if (count != 0) {
      keys.addAndGet(-count);
      if (whole != null) {
        whole.giveBack(count);
      }
    }
  }

  /**
   * Returns whether states may take {@code byBytes} more bytes; with 0, whether any more at all.
   */
  boolean mayGrow(long byBytes) {
    long after = bytes.get() + Math.max(1, byBytes);
    return after <= maxBytes && (whole == null || whole.mayGrow(byBytes));
  }

  void grown(long byBytes) {
    if (byBytes != 0) {
      bytes.addAndGet(byBytes);
      if (whole != null) {
        whole.grown(byBytes);
      }
    }
  }

  long keys() {
    return keys.get();
  }

  long bytes() {
    return bytes.get();
  }

  /**
   * Checks the sums of keys and bytes.
   *
   * @throws IllegalStateException if they are wrong
   */
  void verify(long rightKeys, long rightBytes) {
    if (keys() != rightKeys || bytes() != rightBytes) {
      throw new IllegalStateException(
          "keys and bytes: %d, %d (expected: %d, %d)"
              .formatted(keys(), bytes(), rightKeys, rightBytes));
    }
  }
}
