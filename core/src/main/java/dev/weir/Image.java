package dev.weir;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * An image of a {@link MemoryStore} as it was at one instant, taken while the store goes on: from
 * {@link MemoryStore#beginImage} until {@link #write} has returned, or {@link #close}.
 *
 * <p>One thread decides, and calls {@link #before} for each key before it changes it; another one
 * writes. Any thread may call {@link #close}.
 */
public final class Image implements AutoCloseable {
  /*
   * What may happen to a key between the beginning of an image and its writing?
   *
   *  - It is charged, refunded, or new. Then `before` has copied its segment. This is the only part
   *    that the deciding thread does, so that decisions cost nothing while there is no image.
   *  - It is forgotten, because it has reset, was reset, or its table's time is over; or its
   *    segment is split. That is rare, so Segment itself copies its keys first.
   *  - Its table is no longer in the history. The image has the table and its directory.
   *
   * A segment has the number of the last image that has its keys. A segment with an older number is
   * copied by the first thread that reaches it, under the segment's lock; one that was made
   * meanwhile, by a split or with a new table, begins with the image's number.
   */

  /** The properties of a name except its keys. */
  record Name(String name, long maxKeys, List<TableImage> tables) {}

  private final MemoryStore store;
  private final int number;
  private final List<Name> names = new ArrayList<>();
  private final Fingerprint fingerprint;
  private final long[] calendar;
  private final long unknownBeforeNanos;
  private boolean written;
  private volatile boolean open = true;

  Image(
      MemoryStore store,
      int number,
      Collection<PolicyHistory> histories,
      Fingerprint fingerprint,
      long[] calendar,
      long unknownBeforeNanos) {
    this.store = store;
    this.number = number;
    this.fingerprint = fingerprint;
    this.calendar = calendar;
    this.unknownBeforeNanos = unknownBeforeNanos;
    histories.forEach(history -> names.add(history.beginImage(number)));
  }

  int number() {
    return number;
  }

  List<Name> names() {
    return names;
  }

  Fingerprint fingerprint() {
    return fingerprint;
  }

  /** Returns the steps of the calendar, as {@link Calendar#write} does. */
  long[] calendar() {
    return calendar;
  }

  long unknownBeforeNanos() {
    return unknownBeforeNanos;
  }

  /**
   * Copies what the next operation on a key may change, unless the image has it already. The thread
   * that decides calls it before each operation that charges, records, refunds or resets, for each
   * of its keys. Superfluous calls do no harm, even when the image is complete. A call copies at
   * most one segment for each table of the name, some tens of microseconds.
   *
   * @throws IllegalArgumentException if the binding is not the store's
   */
  public void before(Binding binding, long fingerprint) {
    long own = MemoryStore.nonZero(fingerprint);
    for (ShapeTable each : store.tables(binding)) {
      each.table().copyFirst(own);
    }
  }

  /**
   * Writes the image, in the form of {@link MemoryStore#save}. Keys that have reset before the
   * image was begun may be in it or not. Ends the image, even if writing fails.
   *
   * @param out is written to, flushed, and not closed
   * @return how many keys were written
   * @throws IOException if {@code out} throws it, or the image is closed meanwhile
   * @throws IllegalStateException if it was written or closed before
   */
  public long write(OutputStream out) throws IOException {
    return write(out, () -> {});
  }

  long write(OutputStream out, TableImage.InterimTask between) throws IOException {
    Check.notNull("out", out);
    synchronized (this) {
      if (written || !open) {
        throw new IllegalStateException("image: written or closed (expected: a new one)");
      }
      written = true;
    }
    try (this) {
      return StateImage.write(
          this,
          out,
          () -> {
            between.segment();
            if (!open) {
              throw new IOException("image: closed while it was written");
            }
          });
    }
  }

  /** Ends the image: no more keys are copied for it. */
  @Override
  public void close() {
    synchronized (this) {
      if (!open) {
        return;
      }
      open = false;
    }
    for (Name name : names) {
      name.tables().forEach(TableImage::end);
    }
    store.ended(this);
  }
}
