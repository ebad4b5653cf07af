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
 * <p>One thread decides, and calls {@link #before} for what it is about to change; another one
 * writes. {@link #close} may be called by any.
 */
public final class Image implements AutoCloseable {
  /*
   * What may happen to a key between the beginning of an image and its writing?
   *
   *  - It is charged, refunded, or new. `before` has copied its segment then; this is the only part
   *    for which the deciding thread is asked, so that decisions cost nothing while there is no image.
   *  - It is forgotten, because it has reset, was reset, or its table's time is over; or its segment
   *    is split. That is rare, so Segment itself copies what it held first.
   *  - Its table is no longer in the history. The image has the table and its directory.
   *
   * A segment has the number of the last image that has its keys. One that is older than the image
   * is copied by the first of the threads that comes there, under the segment's lock; one that was
   * made meanwhile, by a split or with a new table, begins with the image's number.
   */

  /** What was known of a name, except its keys. */
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

  /** Returns {@link Calendar#write}. */
  long[] calendar() {
    return calendar;
  }

  long unknownBeforeNanos() {
    return unknownBeforeNanos;
  }

  /**
   * Copies what the next operation on a key may change, unless the image has it: to be called by
   * the thread that decides, before each operation that charges, records, refunds or resets, for
   * each of its keys. Calls that are not needed do no harm, also when the image is complete. It
   * copies at most one segment for each table of the name, some tens of microseconds.
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
   * image was begun may be in it or not. Ends the image, also if it fails.
   *
   * @param out is written to, flushed, and not closed
   * @return how many keys were written
   * @throws IOException if {@code out} throws it, or the image is closed meanwhile
   * @throws IllegalStateException if it was written or closed before
   */
  public long write(OutputStream out) throws IOException {
    return write(out, () -> {});
  }

  long write(OutputStream out, TableImage.Between between) throws IOException {
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

  /** Ends the image: nothing is copied for it any more. */
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
