package dev.weir;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** How many keys a store may hold and does, and the words of their states. */
final class Budget {
  private final long maxKeys;
  private final AtomicLong keys = new AtomicLong();
  private final LongAdder words = new LongAdder();

  Budget(long maxKeys) {
    this.maxKeys = maxKeys;
  }

  /** Takes room for {@code count} more keys, all or nothing. */
  boolean take(int count) {
    if (keys.addAndGet(count) <= maxKeys) {
      return true;
    }
    keys.addAndGet(-count);
    return false;
  }

  void giveBack(int count) {
    keys.addAndGet(-count);
  }

  void grown(long byWords) {
    words.add(byWords);
  }

  long keys() {
    return keys.get();
  }

  long words() {
    return words.sum();
  }
}
