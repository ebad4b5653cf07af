package dev.weir;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The changes of a {@link MemoryStore} since its last image, in files, so that the store can be
 * made again after its process has died at any instant. Any thread may write.
 *
 * <p>A redo log with fuzzy images. [Mohan et al., ARIES, 1992, without its undo: a store never
 * writes what it has not decided]
 */
final class Journal {
  /*
   * How does a change get here, and back? Whatever changes a key's state does so in its Segment,
   * under the segment's lock, and writes a record before it lets go of the lock: so the records of
   * one key are in the order of its changes. They are of a table's operations (this key was charged
   * so much at that instant), not of decisions; a reader repeats them without deciding anything.
   *
   * Keys are divided among lanes by the first bits of their fingerprints, each with files of its
   * own, so that threads do not meet at one counter. When a file is full, its lane goes on to the
   * next, which a thread has made beforehand.
   *
   * Images are fuzzy: each segment is copied at an instant of its own. A segment has the number of
   * the last image that has it, and a record has that number as its epoch. So image E, and after it
   * the records of epochs E and later, are the store; earlier records are in the image. Files that
   * were full before image E began are free as soon as it is complete. A lane that is not full for
   * many images goes on to another file all the same: the numbers of epochs come again.
   *
   * Records refer to a table and a policy by a number. The file of names has, for each number, what
   * it stands for. It is appended to before the number is first used.
   *
   * Anything that fails here must not fail a decision. The journal then ends: it removes the mark
   * that says that it is complete, and takes no more records.
   */

  /** The kinds of records. A charge is at once and has three words; one that waits has four. */
  static final int CHARGE = 1;

  static final int CHARGE_LATER = 2;
  static final int RECORD = 3;
  static final int REFUND = 4;
  static final int STATE = 5;
  static final int CELL = 6;
  static final int REMOVE = 7;
  static final int BAR = 8;

  /** The state of a bucket, which is as short as a charge, and needs no policy to be repeated. */
  static final int BUCKET = 9;

  /** The words of a record behind its head, by kind; a state has its length in its second word. */
  static final int[] WORDS = {-1, 3, 4, 5, 4, -1, -1, 1, 3, 3};

  /**
   * The number of lanes, as a power of two; one where answers wait for a flush, which is then one
   * of one file.
   */
  private static final int LANE_BITS = 2;

  private static final int REF_BITS = 20;
  private static final int KIND_SHIFT = 28;

  /** The number of epochs that records tell apart. */
  private static final int EPOCHS = 1 << (KIND_SHIFT - REF_BITS);

  /** The most images for which a lane keeps a file: far fewer than records tell apart. */
  private static final int MOST_EPOCHS = EPOCHS / 8;

  /** The mask of a reference in the head of a record. */
  private static final int REFS = (1 << REF_BITS) - 1;

  /**
   * The most policies that records refer to, since they stay for as long as the journal; beyond
   * them states are written instead of charges.
   */
  private static final int MOST_REFS = 1 << 16;

  /** The number of files that are kept ready, and at most kept for another use. */
  private static final int READY = 1 << LANE_BITS;

  private static final int MOST_READY = 8 * READY;

  /** The meaning of a reference: a policy under which a table's keys are charged. */
  record Ref(String name, Shape shape, int cellBits, PolicyValues policy) {
    /**
     * Returns the policy from which the table can be made: this one, or as the version before
     * counted it; null if its shape is another.
     */
    @Nullable Policy shaped() {
      Policy own = policy.policy();
      Policy exact = own.countedExactly();
      return own.shape().equals(shape) ? own : exact.shape().equals(shape) ? exact : null;
    }
  }

  /**
   * The properties of a policy that change what a charge writes: policies that share them are equal
   * here.
   */
  record PolicyValues(Policy policy) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof PolicyValues that
          && policy.algorithm() == that.policy.algorithm()
          && policy.quota().equals(that.policy.quota())
          && policy.burst() == that.policy.burst()
          && policy.granularityNanos() == that.policy.granularityNanos()
          && policy.lateNanos == that.policy.lateNanos;
    }

    @Override
    public int hashCode() {
      return policy.quota().hashCode() * 31 + Long.hashCode(policy.burst());
    }
  }

  /**
   * The upkeep of a journal.
   *
   * @param fileBytes the length of a file, unless a record needs a longer one
   * @param flush when records are written to the disk
   * @param maker makes files beforehand
   * @param problems receives a line when the journal has to end
   */
  record Upkeep(
      int fileBytes, JournalFile.Flush flush, Executor maker, Consumer<String> problems) {}

  /** The files of the keys whose fingerprints begin alike. */
  private static final class Lane {
    volatile JournalFile file;

    Lane(JournalFile file) {
      this.file = file;
    }
  }

  private final StoreFiles own;
  private final int fileBytes;
  private final JournalFile.Flush flush;
  private final Executor maker;
  private final Consumer<String> problems;
  private final Lane[] lanes;
  private final ConcurrentHashMap<Ref, Integer> refs = new ConcurrentHashMap<>();
  private final FileChannel names;
  private final Object filesLock = new Object();
  private final Object endLock = new Object();
  private final Deque<JournalFile> ready = new ArrayDeque<>();
  private final List<JournalFile> left = new ArrayList<>();
  private int namesForced;
  private long nextSequence;
  private long leftBytes;
  private volatile int epoch;

  /** The number of the last image that is complete. */
  private int lastImaged;

  private volatile boolean ended;

  /**
   * Begins a journal after those of earlier processes.
   *
   * @param known what the numbers from 0 on stand for already
   * @throws IOException if there is no room for it
   */
  Journal(StoreFiles own, int epoch, long nextSequence, StoreFiles.Names known, Upkeep upkeep)
      throws IOException {
    this.own = own;
    this.epoch = epoch;
    this.lastImaged = epoch;
    this.nextSequence = nextSequence;
    this.fileBytes = upkeep.fileBytes;
    this.flush = upkeep.flush;
    this.lanes = new Lane[flush == JournalFile.Flush.BEFORE_ANSWERS ? 1 : 1 << LANE_BITS];
    this.maker = upkeep.maker;
    this.problems = upkeep.problems;
    for (Ref each : known.refs()) {
      refs.put(each, refs.size());
    }
    names = FileChannel.open(own.names(), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    names.truncate(known.bytes()).position(known.bytes());
    for (int i = 0; i < lanes.length; i++) {
      lanes[i] = new Lane(begun(fileBytes));
    }
    prepare();
  }

  /** Returns the number of the last image that was begun. */
  int epoch() {
    return epoch;
  }

  /**
   * Begins an epoch, that of the image of this number. If none of many images could be written, the
   * journal ends: after some more its first records would look like later ones.
   */
  void begin(int image) {
    epoch = image;
    if (image - lastImaged > MOST_EPOCHS) {
      end(new IOException(MOST_EPOCHS + " images could not be written"));
    }
  }

  /** Returns whether all changes are kept so far. */
  boolean isComplete() {
    return !ended;
  }

  /**
   * Returns the number for a table and a policy, for {@link #head}.
   *
   * @param needed whether the table has no number yet
   * @return -1 if the journal has ended, or has numbers for so many policies already
   */
  int ref(Ref ref, boolean needed) {
    Integer known = refs.get(ref);
    if (known != null) {
      return known;
    }
    try {
      synchronized (names) {
        known = refs.get(ref);
        if (known == null) {
          if (ended || (!needed && refs.size() >= MOST_REFS)) {
            return -1;
          }
          if (refs.size() >= REFS) {
            throw new IOException(refs.size() + " limits (expected: fewer)");
          }
          StoreFiles.append(names, ref);
          known = refs.size();
          refs.put(ref, known);
        }
        return known;
      }
    } catch (IOException e) {
      end(e);
      return -1;
    }
  }

  static int head(int kind, int epoch, int ref) {
    return (kind << KIND_SHIFT) | ((epoch & EPOCHS - 1) << REF_BITS) | ref;
  }

  static int kind(int head) {
    return head >>> KIND_SHIFT;
  }

  static int ref(int head) {
    return head & REFS;
  }

  /** Returns whether a record belongs to an image's epoch or a later one. */
  static boolean isAfter(int image, int head) {
    return ((head >>> REF_BITS) - image & EPOCHS - 1) < EPOCHS / 2;
  }

  private Lane lane(long fingerprint) {
    return lanes[(int) (fingerprint >>> (Long.SIZE - LANE_BITS)) & (lanes.length - 1)];
  }

  /** Writes a record of three words, the first of them the key's fingerprint. */
  void write(int head, long fingerprint, long second, long third) {
    Lane lane = lane(fingerprint);
    try {
      while (!ended) {
        JournalFile file = lane.file;
        int at = file.claim(3);
        if (at >= 0) {
          file.write(at, head, fingerprint, second, third);
          return;
        }
        next(lane, file, 3);
      }
    } catch (IOException | InternalError e) { // The latter by stores into a mapped file.
      end(e);
    }
  }

  /** Writes a record, the first word of which is the key's fingerprint. */
  void write(int head, long... words) {
    write(head, words, words.length, words, 0, 0);
  }

  /** Writes a record of some words and a part of an array. */
  void write(int head, long[] words, int count, long[] more, int from, int length) {
    Lane lane = lane(words[0]);
    int all = count + length;
    try {
      while (!ended) {
        JournalFile file = lane.file;
        int at = file.claim(all);
        if (at >= 0) {
          file.reserve(at, all);
          for (int i = 0; i < count; i++) {
            file.word(at, 1 + i, words[i]);
          }
          for (int i = 0; i < length; i++) {
            file.word(at, 1 + count + i, more[from + i]);
          }
          file.write(at, head, all);
          return;
        }
        next(lane, file, all);
      }
    } catch (IOException | InternalError e) {
      end(e);
    }
  }

  /** Moves a lane on to another file, unless it has already gone on. */
  private void next(Lane lane, JournalFile full, int words) throws IOException {
    synchronized (filesLock) {
      if (lane.file == full && !ended) {
        int length = Math.max(fileBytes, JournalFile.FIRST + JournalFile.length(words));
        JournalFile next = begun(length);
        goOn(lane, next);
      }
    }
    try {
      maker.execute(this::prepare);
    } catch (RejectedExecutionException e) {
      // The folder is being closed; the next file is made when it is needed.
    }
  }

  private void goOn(Lane lane, JournalFile next) {
    JournalFile before = lane.file;
    before.left(epoch);
    left.add(before);
    leftBytes += before.length();
    lane.file = next;
  }

  /** Moves lanes on whose files have records of images long ago. */
  private void renew(int image) throws IOException {
    synchronized (filesLock) {
      for (Lane lane : lanes) {
        if (image - lane.file.begunIn() > MOST_EPOCHS && !ended) {
          JournalFile next = begun(fileBytes);
          lane.file.fill(); // So that no record follows whose epoch is later than the one it has.
          goOn(lane, next);
        }
      }
    }
  }

  private JournalFile begun(int length) throws IOException {
    JournalFile next = length > fileBytes ? null : ready.poll();
    long sequence = nextSequence++;
    if (next == null) {
      next = JournalFile.create(own.file(sequence), length, flush);
    }
    next.begin(sequence, epoch);
    return next;
  }

  /** Makes files beforehand, so that no decision waits for one. */
  void prepare() {
    try {
      while (!ended) {
        long sequence;
        synchronized (filesLock) {
          if (ready.size() >= READY) {
            return;
          }
          sequence = nextSequence++;
        }
        JournalFile made = JournalFile.create(own.file(sequence), fileBytes, flush);
        synchronized (filesLock) {
          ready.add(made);
        }
      }
    } catch (IOException e) {
      end(e);
    }
  }

  /** Returns the bytes of the files that are in use. */
  long bytes() {
    synchronized (filesLock) {
      long bytes = leftBytes;
      for (Lane lane : lanes) {
        bytes += lane.file.used();
      }
      return bytes;
    }
  }

  /** Frees the files whose records an image has, which is complete and on the disk. */
  void imaged(int image) {
    lastImaged = image;
    try {
      renew(image);
    } catch (IOException e) {
      end(e);
    }
    List<JournalFile> spare = new ArrayList<>();
    synchronized (filesLock) {
      left.removeIf(
          each -> {
            boolean free = each.leftIn() < image;
            if (free) {
              leftBytes -= each.length();
              spare.add(each);
            }
            return free;
          });
    }
    for (JournalFile each : spare) {
      try {
        each.end();
        if (flush == JournalFile.Flush.BEFORE_ANSWERS) {
          each.forceEnd(); // Otherwise its records could be back when the epochs come again.
        }
        synchronized (filesLock) {
          if (each.length() == fileBytes && ready.size() < MOST_READY) {
            ready.add(each);
            continue;
          }
        }
        each.delete();
      } catch (IOException | InternalError e) {
        end(e);
      }
    }
  }

  /**
   * Writes to the disk what was written so far: for the end of the machine. If the journal has
   * ended, nothing is written, and its mark is removed when this returns. Called by one thread at a
   * time.
   */
  void force() {
    try {
      synchronized (endLock) {
        if (ended) {
          return;
        }
      }
      List<JournalFile> files;
      synchronized (filesLock) {
        files = new ArrayList<>(left);
        for (Lane lane : lanes) {
          files.add(lane.file);
        }
      }
      int named = refs.size();
      if (named > namesForced) {
        names.force(true);
        namesForced = named;
      }
      for (JournalFile each : files) {
        boolean unused = each.force();
      }
    } catch (IOException | RuntimeException | Error e) {
      end(e);
    }
  }

  /**
   * Ends the journal because of a problem: what it has is no longer all. The mark is removed before
   * any change is left out.
   */
  private void end(Throwable why) {
    synchronized (endLock) {
      if (ended) {
        return;
      }
      String mark;
      try {
        own.unmark();
        mark = "";
      } catch (IOException e) {
        mark = "; its mark cannot be removed, so the folder must not be used again: " + e;
      }
      ended = true;
      problems.accept(own + ": " + why + mark);
    }
  }

  /** Closes the journal: no more records. */
  void close() {
    synchronized (endLock) {
      ended = true;
    }
    try {
      names.close();
    } catch (IOException e) {
      problems.accept(own + ": " + e);
    }
  }
}
