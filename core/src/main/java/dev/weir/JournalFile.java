package dev.weir;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A file of a {@link Journal}, mapped into memory: the bytes that a thread has stored are the
 * system's, whatever becomes of the process. Any thread may write.
 */
final class JournalFile {
  /*
   * file     magic and version, sequence number, its check; zeros up to FIRST; records
   * record   at a multiple of UNIT: head, words
   * head     check (32 bits), kind (4), epoch (8), what the kind refers to (20)
   *
   * All are little-endian longs. A writer claims the bytes of a record, stores its words, and then
   * its head. So a process that dies leaves whole records, and holes that threads had claimed: a
   * unit of zeros, or, where a record is longer than a unit, a head without a check, which a writer
   * stores first. Everything else is damage. Files are filled with zeros before each use, and the
   * check depends on the file's sequence number and the place.
   *
   * The check is a sum of products, and not a CRC32C, which works on buffers: a record would first
   * have to be put into one.
   */

  /** The times at which records are written to the disk, for the end of the machine. */
  enum Flush {
    /** When the system does so. */
    NEVER,
    /** Each second. */
    EACH_SECOND,
    /** Before an answer that depends on them. */
    BEFORE_ANSWERS
  }

  /** The usual length of a file. */
  static final int BYTES = 4 << 20;

  /** The length to which records are filled up. */
  static final int UNIT = 32;

  /** The place of the first record. */
  static final int FIRST = 2 * UNIT;

  private static final long MAGIC = 0x32_4a_52_49_45_57L; // WEIRJ2

  /** The magic while small limits of the default algorithm were counted exactly. */
  private static final long EXACT_MAGIC = 0x31_4a_52_49_45_57L; // WEIRJ1

  private static final int SEQUENCE = 8;
  private static final int CHECK = 16;

  private static final int ZEROS = 1 << 16;
  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final Path path;
  private final MappedByteBuffer bytes;
  private final AtomicInteger claimed = new AtomicInteger(FIRST);
  private long sequence;

  /** The epoch that had begun when the file came into use. */
  private int begunIn;

  /** The epoch that had begun when the lane went on to another file. */
  private int leftIn;

  /** The bytes of records that are complete; counted if the file is forced. */
  private final @Nullable AtomicInteger completed;

  /** The number of them when the file was last forced; -1 if it was not, since it came into use. */
  private int forced;

  private JournalFile(Path path, MappedByteBuffer bytes, boolean counts) {
    this.path = path;
    this.bytes = bytes;
    this.completed = counts ? new AtomicInteger() : null;
  }

  /**
   * Makes a file and fills it with zeros: a mapped file that is only long would fail at a store
   * when the disk is full, on some systems without an error.
   *
   * @param flush when its records are written to the disk
   * @throws IOException if there is no room for it
   */
  static JournalFile create(Path path, int length, Flush flush) throws IOException {
    try (FileChannel file = StoreFiles.create(path)) {
      ByteBuffer zeros = ByteBuffer.allocateDirect(ZEROS);
      for (int left = length; left > 0; ) {
        zeros.clear().limit(Math.min(ZEROS, left));
        left -= file.write(zeros);
      }
      if (flush == Flush.BEFORE_ANSWERS) {
        file.force(true);
      }
    }
    if (flush == Flush.BEFORE_ANSWERS) {
      StoreFiles.sync(Objects.requireNonNull(path.getParent()));
    }
    try (FileChannel file =
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MappedByteBuffer bytes = file.map(FileChannel.MapMode.READ_WRITE, 0, length);
      JournalFile made = new JournalFile(path, bytes, flush != Flush.NEVER);
      made.end(); // The system maps a page at its first store: decisions need not wait for that.
      return made;
    } catch (InternalError e) { // Thrown by stores into a mapped file.
      throw new IOException("cannot be written: " + e.getMessage(), e);
    }
  }

  /**
   * Opens a file of an earlier process for reading; null if it was not in use.
   *
   * @throws IOException if it is damaged, or cannot be read
   */
  static @Nullable JournalFile open(Path path) throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
      long size = file.size();
      if (size < Long.BYTES) {
        return null; // The process died when it made the file.
      }
      JournalFile opened =
          new JournalFile(
              path,
              file.map(FileChannel.MapMode.READ_ONLY, 0, Math.min(size, Integer.MAX_VALUE)),
              false);
      if (opened.word(0) == 0) {
        return null;
      }
      boolean known = opened.word(0) == MAGIC || opened.word(0) == EXACT_MAGIC;
      if (size < FIRST || size > Integer.MAX_VALUE || !known) {
        throw new IOException(path + ": damaged: no file of a journal");
      }
      opened.sequence = opened.word(SEQUENCE);
      if (opened.word(CHECK) != opened.headCheck()) {
        throw new IOException(path + ": damaged: its head");
      }
      return opened;
    }
  }

  /** Begins to use this file, which has no records, in an epoch. */
  synchronized void begin(long sequence, int epoch) {
    this.sequence = sequence;
    begunIn = epoch;
    word(SEQUENCE, sequence);
    word(CHECK, headCheck());
    VarHandle.releaseFence();
    word(0, MAGIC);
    forced = -1;
    if (completed != null) {
      completed.set(0);
    }
    claimed.setRelease(FIRST);
  }

  /** Ends the use of this file: it has no records any more. */
  synchronized void end() {
    for (int at = 0; at < bytes.capacity(); at += Long.BYTES) {
      word(at, 0);
    }
  }

  private long headCheck() {
    return mixed(1, sequence);
  }

  long sequence() {
    return sequence;
  }

  int length() {
    return bytes.capacity();
  }

  int begunIn() {
    return begunIn;
  }

  int leftIn() {
    return leftIn;
  }

  void left(int epoch) {
    leftIn = epoch;
  }

  /** Returns the place of a record of some words behind its head, or -1 if the file is full. */
  int claim(int words) {
    int length = length(words);
    int at = claimed.getAndAdd(length);
    if (at >= 0 && at <= bytes.capacity() - length) {
      return at;
    }
    claimed.set(bytes.capacity()); // So that failed claims cannot overflow.
    return -1;
  }

  /** Makes the file full: every later claim fails. */
  void fill() {
    claimed.set(bytes.capacity());
  }

  /** Returns the bytes of a record of some words behind its head. */
  static int length(int words) {
    return (Long.BYTES * (1 + words) + UNIT - 1) / UNIT * UNIT;
  }

  /** Returns how many bytes are in use. */
  int used() {
    return Math.max(0, Math.min(claimed.get(), bytes.capacity()));
  }

  /** Writes a record of three words. */
  void write(int at, int head, long first, long second, long third) {
    word(at + 8, first);
    word(at + 16, second);
    word(at + 24, third);
    long sum = seed(at, head) + mixed(1, first) + mixed(2, second) + mixed(3, third);
    head(at, head, sum);
    completed(3);
  }

  private void completed(int words) {
    if (completed != null) {
      completed.getAndAdd(length(words));
    }
  }

  /** Begins a record that is longer than a unit: a reader finds its end. */
  void reserve(int at, int words) {
    if (words > 3) {
      word(at, words);
      VarHandle.releaseFence();
    }
  }

  /** Writes the word {@code i}, from 1 on, of a record whose head is not written yet. */
  void word(int at, int i, long value) {
    word(at + Long.BYTES * i, value);
  }

  /** Completes a record whose words are written. */
  void write(int at, int head, int words) {
    head(at, head, sum(at, head, words));
    completed(words);
  }

  private void head(int at, int head, long sum) {
    LONGS.setRelease(bytes, at, check(sum) << 32 | Integer.toUnsignedLong(head));
  }

  /** Returns the word at a place where a record may begin; 0 if there is none. */
  long head(int at) {
    return word(at);
  }

  /**
   * Returns the bytes of the record that a thread had begun at a place and not completed.
   *
   * @return 0 if there is another word at that place
   */
  int unfinished(int at) {
    long head = word(at);
    boolean isLength = head >= 0 && head >>> 32 == 0;
    return head == 0 ? UNIT : isLength && fits(at, (int) head) ? length((int) head) : 0;
  }

  private boolean fits(int at, int words) {
    return words >= 0 && words < bytes.capacity() / 8 && length(words) <= bytes.capacity() - at;
  }

  /** Returns whether there is a whole record of some words behind its head. */
  boolean isRecord(int at, int words) {
    return fits(at, words) && word(at) >>> 32 == check(sum(at, (int) word(at), words));
  }

  private long sum(int at, int head, int words) {
    long sum = seed(at, head);
    for (int i = 1; i <= words; i++) {
      sum += mixed(i, word(at + Long.BYTES * i));
    }
    return sum;
  }

  private long seed(int at, int head) {
    return mixed(0, (long) at << 32 | Integer.toUnsignedLong(head)) + mixed(-1, sequence);
  }

  /** Returns a term of a sum that differs for nearly all pairs of a number and a place. */
  private static long mixed(int i, long word) {
    long mixed = (word + i * 0x9e3779b97f4a7c15L) * (0xbf58476d1ce4e5b9L + 2L * i);
    return mixed ^ mixed >>> 29;
  }

  /** Returns the check, which is not 0. */
  private static long check(long sum) {
    return (sum * 0x94d049bb133111ebL) >>> 32 | 1;
  }

  long word(int at) {
    return (long) LONGS.get(bytes, at);
  }

  private void word(int at, long value) {
    LONGS.set(bytes, at, value);
  }

  /**
   * Writes the records to the disk that are complete, and returns whether there were more than the
   * last time. Another use of the file begins before or after this.
   */
  synchronized boolean force() {
    int more = completed == null ? 0 : completed.get(); // Before: later ones need another force.
    if (more <= forced) {
      return false;
    }
    bytes.force();
    forced = more;
    return true;
  }

  /** Writes to the disk that the file has no records any more. */
  void forceEnd() {
    bytes.force();
  }

  void delete() throws IOException {
    Files.deleteIfExists(path);
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
