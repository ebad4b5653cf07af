package dev.weir;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A store of a {@link StateFolder} with its files: the image, and the journal of this run. Used by
 * one thread at a time, except for {@link #isComplete} and {@link #journalBytes}.
 */
final class KeptStore {
  /** The store that decides; the one that was read, until it is handed over. */
  private volatile MemoryStore store;

  private final StoreFiles files;

  /**
   * A word for the fingerprints by which the store identifies keys: with other fingerprints they
   * are other keys.
   */
  private final String keys;

  /** The journal of the last run, if the store was made from it; it stays until the next image. */
  private final @Nullable EndedJournal repeated;

  private volatile @Nullable Journal journal;

  /** The bytes of the image on the disk, 0 if this run has written none. */
  private long imageBytes;

  /**
   * The journal of a run that has ended.
   *
   * @param image the number of the image to which it belongs
   * @param names the meaning of the numbers in its records
   * @param nextSequence a number for the next file
   * @param damage the first damage that was passed over, or null
   */
  record EndedJournal(
      int image, StoreFiles.Names names, long nextSequence, @Nullable String damage) {}

  KeptStore(MemoryStore store, StoreFiles files, String keys, @Nullable EndedJournal repeated) {
    this.store = store;
    this.files = files;
    this.keys = keys;
    this.repeated = repeated;
  }

  /** Returns the first damage that was passed over when the store was made, or null. */
  @Nullable String damage() {
    return repeated == null ? null : repeated.damage();
  }

  MemoryStore store() {
    return store;
  }

  /** Makes another store go on as this one: {@link MemoryStore#takeOver}. No save may run. */
  void handOver(MemoryStore to, long nowNanos) {
    to.takeOver(store, nowNanos);
    store = to;
  }

  /** Returns whether the counts would be complete if the process died now. */
  boolean isComplete() {
    Journal own = journal;
    return own != null && own.isComplete();
  }

  /** Returns the bytes of the journal's files that are in use, 0 without a journal. */
  long journalBytes() {
    Journal own = journal;
    return own == null ? 0 : own.bytes();
  }

  /** Returns whether the journal is longer than the image, and longer than some bytes. */
  boolean isImageDue(long leastBytes) {
    return isComplete() && journalBytes() > Math.max(leastBytes, imageBytes);
  }

  /**
   * Begins a journal, before any decision of this run.
   *
   * @param clock the clocks of the image
   * @param ticker the clock that decides
   */
  void beginJournal(Journal.Upkeep upkeep, StateClock clock, Ticker ticker) throws IOException {
    EndedJournal before = repeated;
    if (before == null) {
      files.clear();
      before = new EndedJournal(0, new StoreFiles.Names(List.of(), 0), 0, null);
    }
    List<Path> old = files.files();
    Journal begun =
        new Journal(files, before.image(), before.nextSequence(), before.names(), upkeep);
    journal = begun;
    store.journal(begun);
    long unused = save(clock, ticker);
    for (Path each : old) {
      Files.deleteIfExists(each);
    }
    files.mark(
        upkeep.flush() == JournalFile.Flush.BEFORE_ANSWERS
            ? StateDurability.MACHINE
            : StateDurability.PROCESS);
  }

  /** Writes an image of what the last run's journal had, for a run that has none. */
  void foldRepeated(StateClock clock, Ticker ticker) throws IOException {
    if (repeated != null) {
      store.images(repeated.image());
      long unused = save(clock, ticker);
    }
  }

  /** Writes an image, and frees what the journal had before. Returns the number of its keys. */
  long save(StateClock clock, Ticker ticker) throws IOException {
    Path next = files.image(".next");
    Files.deleteIfExists(next);
    long written;
    int number;
    try (FileChannel channel = StoreFiles.create(next);
        Image taken = store.beginImage()) {
      number = taken.number();
      OutputStream out = Channels.newOutputStream(channel);
      DataOutputStream head = new DataOutputStream(out);
      clock.reading(ticker, number).write(head);
      head.writeUTF(keys);
      head.flush();
      written = taken.write(out);
      channel.force(true);
      imageBytes = channel.size();
    }
    Files.move(next, files.image(), StandardCopyOption.ATOMIC_MOVE);
    StoreFiles.sync(files.folder());
    Journal own = journal;
    if (own != null) {
      own.imaged(number);
    }
    return written;
  }

  /** Writes to the disk what was journaled. */
  void force() {
    Journal own = journal;
    if (own != null) {
      own.force();
    }
  }

  /** Closes the journal; nothing may be decided any more. */
  void close() {
    Journal own = journal;
    if (own != null) {
      own.close();
    }
  }

  /** Deletes the files of the journal: the image alone has everything, or nothing is known. */
  void clearJournal() throws IOException {
    files.clear();
  }
}
