package dev.weir;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** How many keys and bytes of state there may be, and are: of one name, or of a whole store. */
final class Budget {
  private final @Nullable Budget whole;
  private final long maxBytes;
  private final AtomicLong keys = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private volatile long maxKeys;

  Budget(long maxKeys, long maxBytes) {
    this(null, maxKeys, maxBytes);
  }

  private Budget(@Nullable Budget whole, long maxKeys, long maxBytes) {
    this.whole = whole;
    this.maxKeys = maxKeys;
    this.maxBytes = maxBytes;
  }

  /** Returns a budget whose keys and bytes are also the whole's. */
  Budget part() {
    return new Budget(this, Long.MAX_VALUE, Long.MAX_VALUE);
  }

  void maxKeys(long most) {
    maxKeys = most;
  }

  long maxKeys() {
    return whole == null ? maxKeys : Math.min(maxKeys, whole.maxKeys());
  }

  long maxBytes() {
    return whole == null ? maxBytes : Math.min(maxBytes, whole.maxBytes());
  }

  /** Takes room for {@code count} more keys, all or nothing; they will take so many bytes. */
  boolean take(int count, long bytesWanted) {
    if (keys.addAndGet(count) <= maxKeys
        && bytes.get() + bytesWanted <= maxBytes
        && (whole == null || whole.take(count, bytesWanted))) {
      return true;
    }
    keys.addAndGet(-count);
    return false;
  }

  /** Counts keys that need no room: those of a sketch, which are few. */
  void force(int count) {
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

  /** Returns whether what is there may take more bytes. */
  boolean mayGrow() {
    return bytes.get() < maxBytes && (whole == null || whole.mayGrow());
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
   * Checks the sums.
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
