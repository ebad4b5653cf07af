package dev.weir;

import dev.weir.internal.DaemonThreads;
import dev.weir.internal.IoCauses;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A folder that keeps the counts of stores over the ends of their process: an image of each, a
 * journal of what was changed since, and a mark while a process uses it. Used by one thread at a
 * time, except for {@link #ticker()}, {@link #bytes()}, {@link #journalBytes()} and {@link
 * #isComplete()}.
 */
public final class StateFolder implements AutoCloseable {
  /*
   * An orderly stop writes an image of each store when nothing is decided any more, removes the
   * mark, and then deletes the journals, so that a death on the way loses nothing either. If there is a journal at a start, it is repeated on the
   * image, and nothing is lost: what a process has written is the system's, whatever becomes of the
   * process. That is not so if the machine was booted in between, or if the journal had to end;
   * then a mark that is still there says that the last admissions are not known. A start that fails
   * before anything is decided restores everything it found.
   *
   * Before a run decides anything it writes an image of what it has restored, so a journal is only
   * ever repeated on an image of the same run and by the same clock.
   *
   * After a restart on the same boot of the machine, the monotonic clock measures the time that has
   * passed, whatever the wall clock shows. So the next process continues with the last time, unless
   * that differs from the wall clock by more than SAME_TIME_NANOS by now. After a boot it is not
   * known how long the machine was down: for the counts no time has passed, and they are moved to
   * the clock's current time.
   */

  private static final long SAME_TIME_NANOS = 1_000_000_000L;

  /** The longest time between the readings of two clocks, in nanoseconds. */
  private static final long READING = 20_000;

  /** The time after which a journal is on the disk: what the end of the machine can lose. */
  private static final Duration FORCE = Duration.ofSeconds(1);

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

  private static final String RUNNING = "running";
  private static final String RUNNING_TEXT =
      "A process uses this folder, or has ended without saving its counts.";
  private static final String LOCK = "lock";
  private static final String IMAGE = ".image";

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
  private final Map<String, SavedTable> tables = new ConcurrentSkipListMap<>();

  /** The stores whose last process has ended without saving, unless their journals have it all. */
  private final Set<String> crashed;

  /** True if the names of those stores are not known. */
  private final boolean anyCrashed;

  /** Held during a save. */
  private final ReentrantLock saving = new ReentrantLock();

  /** Writes images. */
  private final ScheduledExecutorService keeper;

  /** Makes the files of journals, and writes to the disk what they have. */
  private final ScheduledExecutorService journals;

  private final Duration interval;
  private int looksToPass;
  private long offsetNanos;
  private volatile boolean begun;
  private volatile boolean closed;

  /** A store of this run. */
  private static final class SavedTable {
    final MemoryStore store;

    /**
     * A word for the fingerprints by which it identifies keys: with other fingerprints they are
     * other keys.
     */
    final String keys;

    final JournalFolder files;

    /** The number of the image on the disk, 0 if there was none. */
    int image;

    /** The bytes of the image on the disk. */
    long imageBytes;

    /** True if this store is an image and what a journal has; false if there is no journal. */
    boolean repeated;

    /** The meaning of the numbers in that journal. */
    JournalFolder.Names names = new JournalFolder.Names(List.of(), 0);

    long nextSequence;
    @Nullable Journal journal;

    SavedTable(MemoryStore store, String keys, JournalFolder files) {
      this.store = store;
      this.keys = keys;
      this.files = files;
    }
  }

  private StateFolder(Builder options, FileChannel lock) throws IOException {
    this.folder = options.folder;
    this.durability = options.clock.boot().isEmpty() ? StateDurability.NONE : options.durability;
    this.afterCrash = options.afterCrash;
    this.crashOption = options.crashOption;
    this.interval = options.interval;
    this.fileBytes = options.fileBytes;
    this.log = options.log;
    this.clock = options.clock;
    this.lock = lock;
    if (durability != options.durability) {
      log.warning(
          "state: this system has no id of its boot, so counts do not outlive the death of the"
              + " process");
    }
    this.crashed = running();
    this.anyCrashed = crashed.contains("");
    this.offsetNanos = options.keepsTime ? offset() : 0;
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

  /** Returns the stores that the mark names; "" for a mark without names. */
  private Set<String> running() throws IOException {
    Set<String> names = new TreeSet<>();
    try {
      List<String> lines = Files.readAllLines(folder.resolve(RUNNING));
      names.addAll(lines.size() > 1 ? lines.subList(1, lines.size()) : List.of(""));
    } catch (NoSuchFileException e) {
      return names;
    }
    return names;
  }

  /** Returns the clock that decides: that of the last run if it is still right. */
  public Ticker ticker() {
    Ticker system = clock.ticker();
    long offset = offsetNanos;
    return offset == 0 ? system : new MovedTicker(system, offset);
  }

  /**
   * Returns the difference between the last run's time and the system's; 0 if there is none, or too
   * much.
   */
  private long offset() {
    StateClock.Reading last = null;
    try (var images = Files.newDirectoryStream(folder, "*" + IMAGE)) {
      for (Path each : images) {
        StateClock.Reading then = read(each);
        last = then == null || (last != null && last.nanos() > then.nanos()) ? last : then;
      }
    } catch (IOException | DirectoryIteratorException e) {
      log.info("state: " + folder + ": " + e); // The restore of the stores reports the problem.
    }
    long drift = last == null ? 0 : clock.apart(last, clock.ticker());
    return last != null && clock.sameBoot(last) && Math.abs(drift) <= SAME_TIME_NANOS ? drift : 0;
  }

  private static StateClock.@Nullable Reading read(Path image) {
    try (InputStream in = Files.newInputStream(image)) {
      return StateClock.Reading.read(new DataInputStream(in));
    } catch (IOException e) {
      return null; // The restore of its store reports the problem.
    }
  }

  /**
   * Returns a store that continues the last run's, or a new one if there was none. To be called
   * before {@link #begin}.
   *
   * @param name the first part of the names of its files
   * @param keys a word for the fingerprints by which it identifies keys
   * @param maxKeys as for a new store
   * @param maxBytes as for a new store
   * @throws IOException if the folder cannot be written
   */
  public MemoryStore store(String name, String keys, long maxKeys, long maxBytes)
      throws IOException {
    JournalFolder files = new JournalFolder(folder, name);
    Path image = folder.resolve(name + IMAGE);
    SavedTable table = null;
    try {
      boolean kept = files.isKept();
      if (kept) {
        table = repeated(name, keys, maxKeys, maxBytes, image, files);
      }
      if (table == null && (kept || anyCrashed || crashed.contains(name))) {
        warnOfCrash(name);
        if (kept && afterCrash == AfterCrash.DENY) {
          markCrash(name);
        }
        table = afterCrash == AfterCrash.DENY ? unknown(keys, maxKeys, maxBytes, files) : null;
      }
      if (table == null) {
        table = restored(name, keys, maxKeys, maxBytes, image, files);
      }
    } catch (NoSuchFileException e) {
      table = new SavedTable(new MemoryStore(maxKeys, maxBytes), keys, files);
    } catch (IOException e) {
      table = damaged(name, image, e, keys, maxKeys, maxBytes, files);
    }
    tables.put(name, table);
    return table.store;
  }

  private void warnOfCrash(String name) {
    log.warning(
        afterCrash == AfterCrash.DENY
            ? "state: "
                + name
                + ": the last run did not end in order, so what it admitted is not known: keys are"
                + " refused until their windows have passed ("
                + crashOption
                + " amnesty admits them)"
            : "state: "
                + name
                + ": the last run did not end in order: what it admitted after the last state that"
                + " is known is forgotten ("
                + crashOption
                + " deny refuses keys until their windows have passed)");
  }

  /** An image that is read from its head on. */
  private record OpenImage(DataInputStream in, StateClock.Reading then) implements AutoCloseable {
    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  private static OpenImage open(Path image, String keys) throws IOException {
    DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(image), 1 << 16));
    try {
      StateClock.Reading then = StateClock.Reading.read(in);
      String counted = in.readUTF();
      if (!counted.isEmpty() && !counted.equals(keys)) {
        throw new IOException(
            "counts keys by fingerprints that are " + counted + " (expected: " + keys + ")");
      }
      return new OpenImage(in, then);
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  /** Returns the last run's store as its image has it. */
  private SavedTable restored(
      String name, String keys, long maxKeys, long maxBytes, Path image, JournalFolder files)
      throws IOException {
    try (OpenImage open = open(image, keys)) {
      StateClock.Reading then = open.then;
      long now = ticker().nanos();
      long known = goesOn(then) ? now : clock.known(then);
      MemoryStore store = MemoryStore.restored(open.in, maxKeys, maxBytes, known, now);
      if (afterCrash == AfterCrash.AMNESTY) {
        store.forgetUnknown();
      }
      sayRestored(name, store, then, "");
      SavedTable table = new SavedTable(store, keys, files);
      table.image = then.image();
      return table;
    }
  }

  private void sayRestored(String name, MemoryStore store, StateClock.Reading then, String more) {
    log.info(
        "state: %s: %d keys restored%s%s"
            .formatted(
                name,
                store.keys(),
                more,
                clock.sameBoot(then)
                    ? ""
                    : "; how long the machine was down is not known, so they count that much"
                        + " longer"));
  }

  /** Returns whether the time of a reading goes on in this process, to the nanosecond. */
  private boolean goesOn(StateClock.Reading then) {
    return clock.sameBoot(then) && Math.abs(clock.apart(then, ticker())) <= READING;
  }

  /**
   * Returns the last run's store as it was at the end of its process: the image, and what the
   * journal has.
   *
   * @return null if something may be missing, since the machine was booted meanwhile
   */
  private @Nullable SavedTable repeated(
      String name, String keys, long maxKeys, long maxBytes, Path image, JournalFolder files)
      throws IOException {
    long begin = clock.ticker().nanos();
    boolean anyTime = afterCrash == AfterCrash.AMNESTY;
    SavedTable table;
    StateClock.Reading then;
    JournalReplay replay;
    if (!Files.exists(image)) {
      throw new IOException("is not there");
    }
    try (OpenImage open = open(image, keys)) {
      then = open.then;
      if (!clock.sameBoot(then) && !anyTime) {
        return null;
      }
      if (!clock.sameBoot(then)) {
        warnOfCrash(name);
      }
      MemoryStore exact = MemoryStore.resumed(open.in, maxKeys, maxBytes);
      table = new SavedTable(exact, keys, files);
      table.image = then.image();
      table.repeated = true;
      table.names = files.readNames();
      replay = new JournalReplay(files, exact, then.image(), table.names.refs(), then.nanos());
      replay.run(anyTime);
      table.nextSequence = replay.nextSequence();
    }
    if (replay.damage() != null && clock.sameBoot(then)) {
      log.warning("state: " + replay.damage());
      warnOfCrash(name);
    }
    long now = ticker().nanos();
    if (anyTime) {
      table.store.forgetUnknown();
    }
    if (goesOn(then)) {
      table.store.retireAll(now);
    } else {
      long known = Math.max(clock.known(then), replay.latestNanos());
      table = moved(table, image, maxKeys, maxBytes, known, now);
    }
    sayRestored(
        name,
        table.store,
        then,
        ", %d changes since their image repeated, in %d ms"
            .formatted(
                replay.records(), TimeUnit.NANOSECONDS.toMillis(clock.ticker().nanos() - begin)));
    return table;
  }

  /** Returns a store that goes on by another clock, by way of an image. */
  private SavedTable moved(
      SavedTable from, Path image, long maxKeys, long maxBytes, long known, long now)
      throws IOException {
    Path between = image.resolveSibling(image.getFileName() + ".moved");
    Files.deleteIfExists(between);
    try {
      try (FileChannel file = StateFiles.create(between)) {
        from.store.save(Channels.newOutputStream(file));
      }
      try (InputStream in = new BufferedInputStream(Files.newInputStream(between), 1 << 16)) {
        SavedTable moved =
            new SavedTable(
                MemoryStore.restored(in, maxKeys, maxBytes, known, now), from.keys, from.files);
        moved.image = from.image;
        moved.repeated = from.repeated;
        moved.names = from.names;
        moved.nextSequence = from.nextSequence;
        return moved;
      }
    } finally {
      Files.deleteIfExists(between);
    }
  }

  private SavedTable damaged(
      String name,
      Path image,
      IOException why,
      String keys,
      long maxKeys,
      long maxBytes,
      JournalFolder files)
      throws IOException {
    boolean deny = afterCrash == AfterCrash.DENY;
    Path aside = image.resolveSibling(image.getFileName() + ".damaged");
    log.warning(
        "state: %s: %s; it is kept as %s, and %s"
            .formatted(
                image,
                why.getMessage(),
                aside.getFileName(),
                deny
                    ? "keys are refused until their windows have passed"
                    : "what it counted is forgotten"));
    try {
      if (deny) {
        markCrash(name);
      }
      files.unmark();
      if (Files.exists(image)) {
        Files.move(image, aside, StandardCopyOption.REPLACE_EXISTING);
      }
    } catch (IOException e) {
      throw unusable(folder, e);
    }
    return deny
        ? unknown(keys, maxKeys, maxBytes, files)
        : new SavedTable(new MemoryStore(maxKeys, maxBytes), keys, files);
  }

  private SavedTable unknown(String keys, long maxKeys, long maxBytes, JournalFolder files) {
    MemoryStore store = new MemoryStore(maxKeys, maxBytes);
    store.unknownBefore(ticker().nanos());
    return new SavedTable(store, keys, files);
  }

  /**
   * Begins the run: to be called when all stores are there, and before any of them decides.
   *
   * @throws IOException if the folder cannot be written
   */
  public void begin() throws IOException {
    try {
      for (Map.Entry<String, SavedTable> each : tables.entrySet()) {
        if (durability == StateDurability.PROCESS) {
          beginJournal(each.getKey(), each.getValue());
        } else {
          foldBefore(each.getKey(), each.getValue());
        }
      }
      mark();
      if (durability == StateDurability.NONE) {
        for (SavedTable each : tables.values()) {
          each.files.clear(); // It will not have what is decided from now on.
        }
      }
      begun = true;
    } catch (IOException e) {
      throw unusable(folder, e);
    }
    if (durability == StateDurability.PROCESS) {
      every(LOOK, this::keep);
      if (afterCrash == AfterCrash.AMNESTY) { // Otherwise nothing is read after the machine's end.
        long time = FORCE.toNanos();
        var unused = journals.scheduleWithFixedDelay(this::force, time, time, TimeUnit.NANOSECONDS);
      }
    } else if (afterCrash == AfterCrash.AMNESTY) {
      every(interval, this::saveAll);
    }
  }

  /** Writes an image of what the last run's journal had, for a run that has none. */
  private void foldBefore(String name, SavedTable table) throws IOException {
    if (table.repeated) {
      table.store.images(table.image);
      save(name, table);
    }
  }

  private void beginJournal(String name, SavedTable table) throws IOException {
    if (!table.repeated) {
      table.files.clear();
    }
    List<Path> before = table.files.files();
    Journal journal =
        new Journal(
            table.files,
            table.image,
            table.nextSequence,
            table.names,
            new Journal.Upkeep(
                fileBytes,
                journals,
                problem ->
                    log.warning(
                        "state: "
                            + problem
                            + ": what is admitted from now on is not kept if the process dies")));
    table.journal = journal;
    table.store.journal(journal);
    save(name, table);
    for (Path each : before) {
      Files.deleteIfExists(each);
    }
    table.files.mark();
  }

  /** Records that a store's past is not known, even if this start fails. */
  private void markCrash(String name) throws IOException {
    crashed.add(name);
    mark(crashed);
  }

  private void mark() throws IOException {
    Set<String> names = new TreeSet<>(tables.keySet());
    names.addAll(crashed);
    mark(names);
  }

  private void mark(Set<String> names) throws IOException {
    Path mark = folder.resolve(RUNNING);
    Files.writeString(
        mark, RUNNING_TEXT + "\n" + (anyCrashed ? "" : String.join("\n", names) + "\n"));
    StateFiles.sync(mark);
    StateFiles.sync(folder);
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
    for (SavedTable each : tables.values()) {
      Objects.requireNonNull(each.journal).force();
    }
  }

  /** Folds journals that have become long into images; after a failure, not for a while. */
  private void keep() throws IOException {
    if (looksToPass > 0) {
      looksToPass--;
      return;
    }
    looksToPass = LOOKS_AFTER_A_FAILURE;
    for (Map.Entry<String, SavedTable> each : tables.entrySet()) {
      SavedTable table = each.getValue();
      Journal journal = Objects.requireNonNull(table.journal);
      if (journal.isComplete()
          && journal.bytes() > Math.max(LEAST_JOURNAL_BYTES, table.imageBytes)) {
        save(each.getKey(), table);
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
      if (closed) {
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
    for (Map.Entry<String, SavedTable> each : tables.entrySet()) {
      save(each.getKey(), each.getValue());
    }
  }

  /** Writes an image of a store, and frees what its journal had before. */
  private long save(String name, SavedTable table) throws IOException {
    Path image = folder.resolve(name + IMAGE);
    Path next = folder.resolve(name + IMAGE + ".next");
    Files.deleteIfExists(next);
    long keys;
    int number;
    try (FileChannel channel = StateFiles.create(next);
        Image taken = table.store.beginImage()) {
      number = taken.number();
      OutputStream out = Channels.newOutputStream(channel);
      DataOutputStream head = new DataOutputStream(out);
      clock.reading(ticker(), number).write(head);
      head.writeUTF(table.keys);
      head.flush();
      keys = taken.write(out);
      channel.force(true);
      table.imageBytes = channel.size();
    }
    Files.move(next, image, StandardCopyOption.ATOMIC_MOVE);
    StateFiles.sync(folder);
    table.image = number;
    if (table.journal != null) {
      table.journal.imaged(number);
    }
    return keys;
  }

  /** Returns the bytes of memory of the stores, which are about those of their images. */
  public long bytes() {
    return tables.values().stream().mapToLong(each -> each.store.bytes()).sum();
  }

  /** Returns the bytes of the journals' files that are in use, 0 without journals. */
  public long journalBytes() {
    return tables.values().stream()
        .map(each -> each.journal)
        .filter(Objects::nonNull)
        .mapToLong(Journal::bytes)
        .sum();
  }

  /** Returns whether the counts would be complete if the process died now. */
  public boolean isComplete() {
    return tables.values().stream()
        .allMatch(each -> each.journal != null && each.journal.isComplete());
  }

  /**
   * Saves everything, when nothing is decided any more, and removes the mark. After this, the next
   * start is an orderly one.
   *
   * @throws IOException if it is not saved; the next start is then one after a crash
   */
  public void save() throws IOException {
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
    } finally {
      begun = false;
    }
  }

  private void saveLast() throws IOException {
    long begin = clock.ticker().nanos();
    if (afterCrash == AfterCrash.DENY) {
      // The past of a store that this run did not have is unknown to the next run too.
      for (String name : crashedElsewhere()) {
        JournalFolder files = new JournalFolder(folder, name);
        if (!files.isKept()) {
          tables.computeIfAbsent(name, absent -> unknown("", 1, 1, files));
        }
      }
    }
    long keys = 0;
    for (Map.Entry<String, SavedTable> each : tables.entrySet()) {
      SavedTable table = each.getValue();
      keys += save(each.getKey(), table);
    }
    Files.deleteIfExists(folder.resolve(RUNNING));
    StateFiles.sync(folder);
    // Only now: until here, a death would be followed by a start with the journals.
    for (SavedTable table : tables.values()) {
      if (table.journal != null) {
        table.journal.close();
      }
      table.files.clear();
    }
    log.info(
        "state: %d keys saved in %d ms"
            .formatted(keys, TimeUnit.NANOSECONDS.toMillis(clock.ticker().nanos() - begin)));
  }

  /** Returns the names of stores of the run that crashed; if it has left none, the usual ones. */
  private Set<String> crashedElsewhere() {
    return anyCrashed ? Set.of("rules", "throttle") : crashed; // Of servers of version 0.1.
  }

  /**
   * Closes the folder without saving. It stays in the state that {@link #save} has left, or that
   * the death of the process would leave, or as it was found.
   */
  @Override
  public void close() {
    keeper.shutdownNow();
    journals.shutdown();
    tables.values().stream()
        .map(each -> each.journal)
        .filter(Objects::nonNull)
        .forEach(Journal::close);
    closed = true;
    release();
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
