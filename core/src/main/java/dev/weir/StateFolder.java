package dev.weir;

import dev.weir.internal.DaemonThreads;
import dev.weir.internal.IoCauses;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A folder that keeps the counts of stores over the ends of their process: an image of each, a
 * journal of what was changed since, and a mark while a process uses it. Used by one thread at a
 * time, except for {@link #ticker()}, {@link #bytes()}, {@link #journalBytes()}, {@link
 * #isComplete()} and {@link #awaitBegun}.
 */
public final class StateFolder implements AutoCloseable {
  /*
   * An orderly stop writes an image of each store when nothing is decided any more, removes the
   * mark, and then deletes the journals, so that a death on the way loses nothing either. If there
   * is a journal at a start, it is repeated on the image, and nothing is lost: what a process has
   * written is the system's, whatever becomes of the process. That is not so if the machine was
   * booted in between, or if the journal had to end; then a mark that is still there says that the
   * last admissions are not known. A start that fails before anything is decided restores
   * everything it found. (Restoration, JournalReplay)
   *
   * Before a run decides anything it writes an image of what it has restored, so a journal is only
   * ever repeated on an image of the same run and by the same clock. (KeptStore)
   *
   * With an executor the reading goes on while the process serves already: its stores answer by
   * the failure modes of policies, and go on as those that were read when their journals have
   * begun. Until then nothing in the folder has changed, so a stop during the reading leaves it as
   * it was found. (UnreadPast)
   *
   * A run that is closed without a save may still decide: some thread has not ended. So its
   * journals stay open, and the folder in use, until the process ends. What that thread admits is
   * kept too.
   *
   * After a restart on the same boot of the machine, the monotonic clock measures the time that has
   * passed, whatever the wall clock shows. So the next process continues with the last time, unless
   * that differs from the wall clock by more than SAME_TIME_NANOS by now. After a boot it is not
   * known how long the machine was down: for the counts no time has passed, and they are moved to
   * the clock's current time.
   */

  private static final long SAME_TIME_NANOS = 1_000_000_000L;

  /** The time after which a journal is on the disk: what the end of the machine can lose. */
  private static final Duration FORCE = Duration.ofSeconds(1);

  /** The time between two lines about the progress of a reading. */
  private static final Duration PROGRESS = Duration.ofSeconds(5);

  /** The time between two looks at the lengths of journals. */
  private static final Duration LOOK = Duration.ofMillis(100);

  /**
   * The bytes of a journal from which an image is worth while, however small the store is; tests
   * set fewer.
   */
  private static final long LEAST_JOURNAL_BYTES =
      Long.getLong("weir.state.journal-bytes", 64L << 20);

  /** The looks at journals that pass after an image could not be written: 10 s. */
  private static final int LOOKS_AFTER_A_FAILURE = 100;

  private static final String LOCK = "lock";

  /** The longest wait for a file that is being made, before the folder is released. */
  private static final long CLOSE_MILLIS = 500;

  /** A receiver of lines for the people who run a process. */
  public interface Log {
    /** Receives what was done. */
    void info(String line);

    /** Receives what they have to know about. */
    void warning(String line);
  }

  /** A log that writes to the logger of this class. */
  private static final class SystemLog implements Log {
    private final System.Logger logger = System.getLogger(StateFolder.class.getName());

    @Override
    public void info(String line) {
      logger.log(System.Logger.Level.INFO, line);
    }

    @Override
    public void warning(String line) {
      logger.log(System.Logger.Level.WARNING, line);
    }
  }

  /** A builder of a folder with its options. Not safe for use by several threads. */
  public static final class Builder {
    private final Path folder;
    private StateDurability durability = StateDurability.PROCESS;
    private AfterCrash afterCrash = AfterCrash.DENY;
    private Duration interval = Duration.ofSeconds(10);
    private Log log = new SystemLog();
    private StateClock clock = StateClock.system();
    private boolean keepsTime = true;
    private int fileBytes = JournalFile.BYTES;
    private String crashOption = "afterCrash";
    private @Nullable Executor reader;

    private Builder(Path folder) {
      this.folder = Check.notNull("folder", folder);
    }

    /** Sets the ends after which nothing is missing. Default: {@link StateDurability#PROCESS}. */
    public Builder durability(StateDurability durability) {
      this.durability = Check.notNull("durability", durability);
      return this;
    }

    /** Sets what becomes of limits after any other end. Default: {@link AfterCrash#DENY}. */
    public Builder afterCrash(AfterCrash afterCrash) {
      this.afterCrash = Check.notNull("afterCrash", afterCrash);
      return this;
    }

    /**
     * Sets the name of the option by which users set {@link #afterCrash}, for messages that name
     * the remedy. Default: {@code afterCrash}.
     */
    public Builder afterCrashOption(String name) {
      this.crashOption = Check.notNull("name", name);
      return this;
    }

    /**
     * Sets the time between two images, for {@link StateDurability#NONE} with {@link
     * AfterCrash#AMNESTY}. Default: 10 seconds.
     */
    public Builder interval(Duration interval) {
      this.interval = Check.notNull("interval", interval);
      return this;
    }

    /** Sets the receiver of messages. Default: the logger of the name of {@link StateFolder}. */
    public Builder log(Log log) {
      this.log = Check.notNull("log", log);
      return this;
    }

    /**
     * Sets the executor that reads the counts: {@link StateFolder#begin} then returns before they
     * are there, and {@link StateFolder#awaitBegun} waits for them. Until then the stores decide
     * nothing. Each charge is {@link Reason#UNCERTAIN}, its policy's {@link FailureMode} answers,
     * and nothing is counted or given back; {@link Store#reset} throws {@link
     * UnsupportedOperationException}. Default: {@link StateFolder#store} reads them.
     */
    public Builder readBy(Executor reader) {
      this.reader = Check.notNull("reader", reader);
      return this;
    }

    Builder clock(StateClock clock) {
      this.clock = clock;
      return this;
    }

    Builder fileBytes(int bytes) {
      fileBytes = bytes;
      return this;
    }

    /** Disables the last process's time: counts continue by the system's. */
    Builder bySystemTime() {
      keepsTime = false;
      return this;
    }

    /**
     * Opens the folder, and makes it if it is not there.
     *
     * @throws IOException if it cannot be used, or another process uses it; the message has the
     *     folder and the reason
     */
    public StateFolder open() throws IOException {
      FileChannel lock = null;
      try {
        Files.createDirectories(folder);
        lock =
            FileChannel.open(
                folder.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (locked(lock) != null) {
          return new StateFolder(this, lock);
        }
      } catch (IOException e) {
        closeQuietly(lock);
        throw unusable(folder, e);
      }
      lock.close();
      throw new IOException(
          folder + ": in use by another server or store (expected: a folder for each)");
    }
  }

  private final Path folder;
  private final StateDurability durability;
  private final AfterCrash afterCrash;
  private final int fileBytes;
  private final String crashOption;
  private final Log log;
  private final StateClock clock;
  private final FileChannel lock;
  private final Map<String, KeptStore> stores = new ConcurrentSkipListMap<>();
  private final Map<String, UnreadStore> unread = new ConcurrentSkipListMap<>();
  private final @Nullable Executor reader;
  private final StateReading reading = new StateReading();

  /** True from the beginning of the reading by the executor, or if there will be none. */
  private final AtomicBoolean readingTaken = new AtomicBoolean();

  /** Completed when the run has begun, or cannot begin. */
  private final CompletableFuture<Void> beginning = new CompletableFuture<>();

  private final RunMark mark;

  /** Held during a save. */
  private final ReentrantLock saving = new ReentrantLock();

  /** Writes images. */
  private final ScheduledExecutorService keeper;

  /** Makes the files of journals, and writes to the disk what they have. */
  private final ScheduledExecutorService journals;

  private final Duration interval;
  private int looksToPass;
  private long offsetNanos;
  private @Nullable GroupCommit commit;
  private volatile boolean begun;
  private volatile boolean closed;

  /** A store that answers while its past is read. */
  private record UnreadStore(MemoryStore store, Restoration past) {}

  private StateFolder(Builder options, FileChannel lock) throws IOException {
    this.folder = options.folder;
    // Without an id of the boot, only what is on the disk outlives the process.
    this.durability =
        options.clock.boot().isEmpty() && options.durability == StateDurability.PROCESS
            ? StateDurability.NONE
            : options.durability;
    this.afterCrash = options.afterCrash;
    this.crashOption = options.crashOption;
    this.interval = options.interval;
    this.reader = options.reader;
    this.fileBytes = options.fileBytes;
    this.log = options.log;
    this.clock = options.clock;
    this.lock = lock;
    if (durability != options.durability) {
      log.warning(
          "state: this system has no id of its boot, so counts do not outlive the death of the"
              + " process; with the durability machine they do");
    }
    this.mark = RunMark.read(folder);
    this.offsetNanos = options.keepsTime ? clock.ahead(folder, SAME_TIME_NANOS) : 0;
    this.keeper = Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-state"));
    this.journals = Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-journal"));
  }

  /** Returns a builder of the folder at a path. */
  public static Builder builder(Path folder) {
    return new Builder(folder);
  }

  private static @Nullable FileLock locked(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }

  private static void closeQuietly(@Nullable FileChannel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      // The process no longer uses it; the lock ends with the process at the latest.
    }
  }

  private static IOException unusable(Path folder, IOException e) {
    return new IOException(IoCauses.folder(folder, e), e);
  }

  /** Returns the clock that decides: that of the last run if it is still right. */
  public Ticker ticker() {
    Ticker system = clock.ticker();
    long offset = offsetNanos;
    return offset == 0 ? system : new MovedTicker(system, offset);
  }

  /**
   * Returns a store that continues the last run's, or a new one if there was none. To be called
   * before {@link #begin}. With {@link Builder#readBy} it continues it from the instant at which
   * the run has begun.
   *
   * @param name the first part of the names of its files
   * @param keys a word for the fingerprints by which it identifies keys
   * @param maxKeys as for a new store
   * @param maxBytes as for a new store
   * @throws IOException if the folder cannot be written
   */
  public MemoryStore store(String name, String keys, long maxKeys, long maxBytes)
      throws IOException {
    try {
      StoreFiles files = new StoreFiles(folder, name);
      reading.expect(files.bytes());
      Restoration past = past(files, keys, maxKeys, maxBytes);
      if (reader == null) {
        return restored(name, past).store();
      }
      Fingerprint fingerprint = past.imagedFingerprint();
      MemoryStore store = MemoryStore.unread(fingerprint, maxKeys, maxBytes);
      unread.put(name, new UnreadStore(store, past.with(fingerprint)));
      return store;
    } catch (IOException e) {
      throw unusable(folder, e);
    }
  }

  private KeptStore restored(String name, Restoration past) throws IOException {
    long begin = clock.ticker().nanos();
    long period = PROGRESS.toNanos();
    Future<?> progress =
        keeper.scheduleWithFixedDelay(
            () -> log.info(reading.line(clock.ticker().nanos() - begin)),
            period,
            period,
            TimeUnit.NANOSECONDS);
    try {
      KeptStore kept = past.restored();
      stores.put(name, kept);
      return kept;
    } finally {
      progress.cancel(false);
    }
  }

  private Restoration past(StoreFiles files, String keys, long maxKeys, long maxBytes) {
    return new Restoration(
        new Restoration.Start(clock, ticker(), afterCrash, crashOption, log, mark, reading),
        files,
        keys,
        maxKeys,
        maxBytes,
        Fingerprint.random());
  }

  /**
   * Returns a view of a store of this folder that promises what the folder does: with {@link
   * StateDurability#MACHINE}, what has changed is on the disk before its answer comes, on a thread
   * of this folder; all answers that wait follow one flush. With any other durability it is the
   * store itself, which answers on the caller's thread. To be called once for each store, before
   * {@link #begin}.
   *
   * <p>If the journal fails, answers follow without a flush; {@link #isComplete} is false then.
   */
  public Store answering(MemoryStore store) {
    if (durability != StateDurability.MACHINE) {
      return store;
    }
    if (commit == null) {
      commit = new GroupCommit(this::force);
    }
    return new FlushedStore(store, commit);
  }

  /**
   * Begins the run: to be called when all stores are there, and before any of them decides. With
   * {@link Builder#readBy} it begins when their counts are read, which this does not wait for.
   *
   * @throws IOException if the folder cannot be written
   */
  public void begin() throws IOException {
    if (reader == null) {
      beginNow();
      beginning.complete(null);
    } else {
      reader.execute(this::readAndBegin);
    }
  }

  private void readAndBegin() {
    if (!readingTaken.compareAndSet(false, true)) {
      return;
    }
    try {
      readUnread();
      beginNow();
      beginning.complete(null);
    } catch (StateReading.Cancellation e) {
      boolean unused = beginning.cancel(false);
    } catch (IOException | RuntimeException | Error e) {
      beginning.completeExceptionally(e);
    }
  }

  private void readUnread() throws IOException {
    try {
      for (Map.Entry<String, UnreadStore> each : unread.entrySet()) {
        KeptStore unused = restored(each.getKey(), each.getValue().past);
      }
      reading.advance(0);
    } catch (StateReading.Cancellation e) {
      throw e;
    } catch (IOException e) {
      throw unusable(folder, e);
    }
  }

  /**
   * Waits until the run has begun. Any thread may wait.
   *
   * @return false if the time is over before that
   * @throws IOException if the run could not begin, as {@link #begin} and {@link #store} throw it
   * @throws CancellationException if the folder was saved or closed before that
   */
  public boolean awaitBegun(Duration timeout) throws IOException, InterruptedException {
    try {
      beginning.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      throw cause instanceof IOException known
          ? new IOException(known.getMessage(), known)
          : new IOException(folder + ": the run could not begin: " + cause, cause);
    }
  }

  /** Ends the reading, if there is one. A run that is about to begin begins first. */
  private void endReading() {
    if (reader == null) {
      return;
    }
    reading.cancel();
    if (readingTaken.compareAndSet(false, true)) {
      boolean unused = beginning.cancel(false);
      return;
    }
    try {
      beginning.join();
    } catch (CancellationException | CompletionException e) {
      // Nothing was decided, so there is nothing to save.
    }
  }

  private void beginNow() throws IOException {
    try {
      for (KeptStore each : stores.values()) {
        if (durability != StateDurability.NONE) {
          each.beginJournal(
              new Journal.Upkeep(fileBytes, flush(), journals, this::warn), clock, ticker());
        } else {
          each.foldRepeated(clock, ticker());
        }
      }
      mark.begin(stores.keySet());
      if (durability == StateDurability.NONE) {
        for (KeptStore each : stores.values()) {
          each.clearJournal(); // It will not have what is decided from now on.
        }
      }
      begun = true;
    } catch (IOException e) {
      throw unusable(folder, e);
    }
    for (Map.Entry<String, UnreadStore> each : unread.entrySet()) {
      KeptStore kept = Objects.requireNonNull(stores.get(each.getKey()));
      kept.handOver(each.getValue().store, ticker().nanos());
    }
    if (durability != StateDurability.NONE) {
      every(LOOK, this::keep);
      if (flush() == JournalFile.Flush.EACH_SECOND) {
        long time = FORCE.toNanos();
        var unused = journals.scheduleWithFixedDelay(this::force, time, time, TimeUnit.NANOSECONDS);
      }
    } else if (afterCrash == AfterCrash.AMNESTY) {
      every(interval, this::saveAll);
    }
  }

  private JournalFile.Flush flush() {
    if (durability == StateDurability.MACHINE) {
      return JournalFile.Flush.BEFORE_ANSWERS;
    }
    // Without an amnesty nothing is read after the machine's end.
    return afterCrash == AfterCrash.AMNESTY
        ? JournalFile.Flush.EACH_SECOND
        : JournalFile.Flush.NEVER;
  }

  private void warn(String problem) {
    log.warning(
        "state: " + problem + ": what is admitted from now on is not kept if the process dies");
  }

  private void every(Duration time, Save task) {
    var unused =
        keeper.scheduleWithFixedDelay(
            () -> {
              try {
                whileOpen(task);
              } catch (IOException | RuntimeException | OutOfMemoryError e) {
                log.warning("state: no image: " + e);
              }
            },
            time.toNanos(),
            time.toNanos(),
            TimeUnit.NANOSECONDS);
  }

  /** Writes to the disk what was journaled. */
  private void force() {
    stores.values().forEach(KeptStore::force);
  }

  /** Folds journals that have become long into images; after a failure, not for a while. */
  private void keep() throws IOException {
    if (looksToPass > 0) {
      looksToPass--;
      return;
    }
    looksToPass = LOOKS_AFTER_A_FAILURE;
    for (KeptStore each : stores.values()) {
      if (each.isImageDue(LEAST_JOURNAL_BYTES)) {
        long unused = each.save(clock, ticker());
      }
    }
    looksToPass = 0;
  }

  /** A task that writes images. */
  private interface Save {
    void run() throws IOException;
  }

  /**
   * Runs a save, after the one before has ended. The folder stays in use meanwhile: if it is closed
   * during a save, the end of the save releases it.
   *
   * @throws IOException if the folder is closed, or the save fails
   */
  private void whileOpen(Save save) throws IOException {
    saving.lock();
    try {
      if (closed) {
        throw new IOException("the folder is closed");
      }
      save.run();
    } finally {
      saving.unlock();
      if (closed && !begun) {
        release();
      }
    }
  }

  /** Releases the folder for other processes, unless a save runs. */
  private void release() {
    if (saving.tryLock()) {
      try {
        closeQuietly(lock);
      } finally {
        saving.unlock();
      }
    }
  }

  /** Writes an image of each store now, and frees what the journals had before. */
  void fold() throws IOException {
    whileOpen(this::saveAll);
  }

  /** Writes an image of each store; the images are complete if nothing is decided any more. */
  private void saveAll() throws IOException {
    for (KeptStore each : stores.values()) {
      long unused = each.save(clock, ticker());
    }
  }

  /** Returns the bytes of memory of the stores, which are about those of their images. */
  public long bytes() {
    return stores.values().stream().mapToLong(each -> each.store().bytes()).sum();
  }

  /** Returns the bytes of the journals' files that are in use, 0 without journals. */
  public long journalBytes() {
    return stores.values().stream().mapToLong(KeptStore::journalBytes).sum();
  }

  /** Returns whether the counts would be complete if the process died now. */
  public boolean isComplete() {
    boolean read =
        unread.isEmpty() || (beginning.isDone() && !beginning.isCompletedExceptionally());
    return read && stores.values().stream().allMatch(KeptStore::isComplete);
  }

  /**
   * Saves everything, when nothing is decided any more, and removes the mark. After this, the next
   * start is an orderly one. A run that has not begun has decided nothing: its reading ends, and
   * the folder stays as it was found.
   *
   * @throws IOException if it is not saved; the next start then goes on with the journal, or is one
   *     after a crash if that is not {@linkplain #isComplete complete}
   */
  public void save() throws IOException {
    endReading();
    keeper.shutdownNow();
    journals.shutdown();
    if (!begun) {
      return;
    }
    try {
      whileOpen(this::saveLast);
    } catch (IOException | RuntimeException e) {
      throw new IOException(
          isComplete()
              ? "not saved, the next start goes on with the journal: " + e
              : "not saved, the next start is one after a crash: " + e,
          e);
    }
  }

  private void saveLast() throws IOException {
    long begin = clock.ticker().nanos();
    if (afterCrash == AfterCrash.DENY) {
      // The past of a store that this run did not have is unknown to the next run too.
      for (String name : mark.crashed()) {
        StoreFiles files = new StoreFiles(folder, name);
        if (files.kept() == StateDurability.NONE && !stores.containsKey(name)) {
          stores.put(name, past(files, "", 1, 1).unknown());
        }
      }
    }
    long keys = 0;
    for (KeptStore each : stores.values()) {
      keys += each.save(clock, ticker());
    }
    mark.end();
    begun = false;
    // Only now: until here, a death would be followed by a start with the journals.
    for (KeptStore each : stores.values()) {
      each.close();
      each.clearJournal();
    }
    endCommit();
    log.info(
        "state: %d keys saved in %d ms"
            .formatted(keys, TimeUnit.NANOSECONDS.toMillis(clock.ticker().nanos() - begin)));
  }

  /**
   * Closes the folder without saving. It stays in the state that {@link #save} has left, or as it
   * was found. If the run has begun and was not saved, the folder stays in use until the process
   * ends, and its journals go on.
   */
  @Override
  public void close() {
    endReading();
    keeper.shutdownNow();
    journals.shutdown();
    closed = true;
    if (!begun) {
      endCommit();
      stores.values().forEach(KeptStore::close);
      awaitFiles();
      release();
    }
  }

  private void endCommit() {
    if (commit != null) {
      commit.close();
    }
  }

  /** Waits for a file that is being made: the folder may be another process's after that. */
  private void awaitFiles() {
    try {
      boolean unused = journals.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Leaves the folder as the death of the process would: for tests. */
  void die() {
    begun = false;
    close();
  }

  /** A ticker that is ahead of another by a fixed time. */
  private record MovedTicker(Ticker other, long aheadNanos) implements Ticker {
    @Override
    public long nanos() {
      return other.nanos() + aheadNanos;
    }

    @Override
    public void sleep(long nanos) throws InterruptedException {
      other.sleep(nanos);
    }

    @Override
    public ScheduledTask schedule(long nanos, Runnable task) {
      return other.schedule(nanos, task);
    }
  }
}
