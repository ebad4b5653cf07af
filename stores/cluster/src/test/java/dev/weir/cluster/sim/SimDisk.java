package dev.weir.cluster.sim;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The disk of one member with one group's log, of which a crash leaves only the flushed part. */
final class SimDisk {
  /** An entry of the log. */
  static final class Item {
    private final long index;
    private final long term;
    private final byte @Nullable [] bytes;
    private final long stampedAtNanos;

    /**
     * Creates an entry.
     *
     * @param bytes null for the entry with which a leader begins its term, which is for the log
     *     alone
     * @param stampedAtNanos the real time at which it was stamped
     */
    Item(long index, long term, byte @Nullable [] bytes, long stampedAtNanos) {
      this.index = index;
      this.term = term;
      this.bytes = bytes;
      this.stampedAtNanos = stampedAtNanos;
    }

    long index() {
      return index;
    }

    long term() {
      return term;
    }

    byte @Nullable [] bytes() {
      return bytes;
    }

    long stampedAtNanos() {
      return stampedAtNanos;
    }
  }

  /** An image of the state after the entries up to an index. */
  record Image(long index, long term, Path file) {}

  private final List<Item> items = new ArrayList<>();

  /** The last entry that is not kept any more. */
  private long base;

  private long baseTerm;
  private long flushed;
  private long term;
  private @Nullable Image image;

  long term() {
    return term;
  }

  void term(long newTerm) {
    term = newTerm;
  }

  @Nullable Image image() {
    return image;
  }

  long first() {
    return base + 1;
  }

  long last() {
    return base + items.size();
  }

  long lastTerm() {
    return termAt(last());
  }

  long flushed() {
    return flushed;
  }

  /** Returns the term of an entry; -1 if it is not here. */
  long termAt(long index) {
    if (index == base) {
      return baseTerm;
    }
    return index < base || index > last() ? -1 : at(index).term();
  }

  Item at(long index) {
    return items.get((int) (index - base - 1));
  }

  /** Returns the entries from one on, up to that many. */
  List<Item> from(long index, int most) {
    int first = (int) (index - base - 1);
    return List.copyOf(items.subList(first, Math.min(items.size(), first + most)));
  }

  void append(Item item) {
    items.add(item);
  }

  /** Drops an entry and all after it. */
  void truncate(long index) {
    items.subList((int) (index - base - 1), items.size()).clear();
    flushed = Math.min(flushed, last());
  }

  void flush(long index) {
    flushed = Math.max(flushed, Math.min(index, last()));
  }

  /**
   * Keeps an image, and drops entries that are in it.
   *
   * @param kept the number of them that are still kept
   */
  void keep(Image newest, int kept) {
    image = newest;
    long drop = newest.index() - kept;
    if (drop > base) {
      baseTerm = termAt(drop);
      items.subList(0, (int) (drop - base)).clear();
      base = drop;
    }
  }

  /** Begins with an image of another member. */
  void install(Image newest) {
    boolean goesOn = termAt(newest.index()) == newest.term();
    if (goesOn) {
      keep(newest, 0);
    } else {
      items.clear();
      base = newest.index();
      baseTerm = newest.term();
      image = newest;
    }
    flushed = Math.max(base, Math.min(flushed, last()));
  }

  /** Drops the unflushed entries. */
  void loseUnflushed() {
    if (flushed < last()) {
      truncate(flushed + 1);
    }
  }

  /** Drops everything. */
  void wipe() {
    items.clear();
    base = 0;
    baseTerm = 0;
    flushed = 0;
    term = 0;
    image = null;
  }
}
