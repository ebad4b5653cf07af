package dev.weir.server.internal.state;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.internal.DaemonThreads;
import dev.weir.internal.IoCauses;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.settings.AfterCrash;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.settings.StartException;
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
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * The folder that keeps the counts of a server's tables over its restarts: an image of each table,
 * and a mark while a server runs. Used by one thread at a time, except for {@link #ticker()} and
 * {@link #bytes()}.
 */
public final class StateFolder implements StateStorage {
  /*
   * An orderly stop writes an image of each table when nothing is decided any more, and then
   * removes the mark. If the mark is still there at a start, the last run ended in another way, and
   * its admissions after its last image are not known. A start that fails before anything is
   * decided restores everything it found.
   *
   * After a restart on the same boot of the machine, the monotonic clock measures the time that has
   * passed, whatever the wall clock shows. So the server continues with its last time, unless that
   * differs from the wall clock by more than SAME_TIME_NANOS by now. After a boot it is not known
   * how long the machine was down: for the counts no time has passed, and they are moved to the
   * clock's current time.
   */

  private static final long SAME_TIME_NANOS = 1_000_000_000L;

  /** The longest time between the readings of two clocks, in nanoseconds. */
  private static final long READING = 20_000;

  /** The tables that servers have; one run may have fewer of them than another. */
  public static final String RULES = "rules";

  public static final String THROTTLE = "throttle";
  private static final List<String> NAMES = List.of(RULES, THROTTLE);

  private static final String RUNNING = "running";
  private static final String LOCK = "lock";
  private static final String IMAGE = ".image";

  /** The name of the setting that gives the folder. */
  private final String setting;

  private final Path folder;
  private final AfterCrash afterCrash;
  private final StateClock clock;
  private final FileChannel lock;
  private final boolean crashed;
  private final Map<String, SavedTable> tables = new ConcurrentSkipListMap<>();

  /** Held during a save. */
  private final ReentrantLock saving = new ReentrantLock();

  /**
   * True if the earlier admissions of some table are not known, and must not be treated as known.
   */
  private boolean unknown;

  private final @Nullable ScheduledExecutorService saver;
  private long offsetNanos;
  private volatile boolean begun;
  private volatile boolean closed;

  /**
   * A table of this run.
   *
   * @param keys a word for the fingerprints by which it identifies keys: with other fingerprints
   *     they are other keys
   */
  private record SavedTable(MemoryStore store, String keys) {}

  private StateFolder(
      String setting,
      Path folder,
      AfterCrash afterCrash,
      Duration interval,
      StateClock clock,
      FileChannel lock) {
    this.setting = setting;
    this.folder = folder;
    this.afterCrash = afterCrash;
    this.clock = clock;
    this.lock = lock;
    this.crashed = Files.exists(folder.resolve(RUNNING));
    this.unknown = crashed && afterCrash == AfterCrash.DENY;
    this.offsetNanos = offset();
    this.saver = afterCrash == AfterCrash.AMNESTY ? every(interval) : null;
    if (crashed && afterCrash == AfterCrash.DENY) {
      Logs.LOG.warning(
          "state: the last run did not end in order, so what it admitted is not known: keys are"
              + " refused until their windows have passed (--state-after-crash amnesty admits"
              + " them)");
    } else if (crashed) {
      Logs.LOG.warning(
          "state: the last run did not end in order: what it admitted after its last image is"
              + " forgotten (--state-after-crash deny refuses keys until their windows have"
              + " passed)");
    }
  }

  /**
   * Opens the folder of the settings, and makes it if it is not there; returns {@link
   * StateStorage#NONE} if the settings name none.
   *
   * @throws StartException if it cannot be used, or another server uses it
   */
  public static StateStorage open(ServerSettings settings) throws StartException {
    Optional<Path> folder = settings.stateFolder();
    Optional<Path> data = settings.value(Settings.DATA_DIR);
    if (folder.isPresent() && settings.value(Settings.STATE_DIR).isEmpty() && data.isPresent()) {
      String setting = settings.source(Settings.DATA_DIR);
      try {
        Files.createDirectories(data.get());
      } catch (IOException e) {
        throw unusable(setting, data.get(), e);
      }
    }
    return folder.isEmpty()
        ? NONE
        : open(
            settings.folderSource(Settings.STATE_DIR),
            folder.get(),
            settings.value(Settings.STATE_AFTER_CRASH),
            settings.value(Settings.STATE_INTERVAL),
            StateClock.system());
  }

  static StateFolder open(
      String setting, Path folder, AfterCrash afterCrash, Duration interval, StateClock clock)
      throws StartException {
    FileChannel lock = null;
    try {
      Files.createDirectories(folder);
      lock =
          FileChannel.open(
              folder.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (locked(lock) == null) {
        lock.close();
        throw new StartException(
            setting + ": " + folder + ": in use by another server (expected: a folder for each)");
      }
      return new StateFolder(setting, folder, afterCrash, interval, clock, lock);
    } catch (IOException e) {
      closeQuietly(lock);
      throw unusable(setting, folder, e);
    }
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
      Logs.LOG.log(Level.FINE, "state: lock", e);
    }
  }

  @Override
  public boolean keeps() {
    return true;
  }

  @Override
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
      Logs.LOG.log(Level.FINE, "state: " + folder, e);
    }
    long drift = last == null ? 0 : clock.apart(last, clock.ticker());
    return last != null && clock.sameBoot(last) && Math.abs(drift) <= SAME_TIME_NANOS ? drift : 0;
  }

  private static StateClock.@Nullable Reading read(Path image) {
    try (InputStream in = Files.newInputStream(image)) {
      return StateClock.Reading.read(new DataInputStream(in));
    } catch (IOException e) {
      return null; // The restore of its table reports the problem.
    }
  }

  @Override
  public MemoryStore table(String name, String keys, long maxKeys, long maxBytes)
      throws StartException {
    MemoryStore table = restored(name, keys, maxKeys, maxBytes);
    tables.put(name, new SavedTable(table, keys));
    return table;
  }

  private MemoryStore restored(String name, String keys, long maxKeys, long maxBytes)
      throws StartException {
    if (crashed && afterCrash == AfterCrash.DENY) {
      return unknown(maxKeys, maxBytes);
    }
    Path image = folder.resolve(name + IMAGE);
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(image)))) {
      StateClock.Reading then = StateClock.Reading.read(in);
      String counted = in.readUTF();
      if (!counted.isEmpty() && !counted.equals(keys)) {
        throw new IOException(
            "counts keys by fingerprints that are " + counted + " (expected: " + keys + ")");
      }
      boolean goesOn = clock.sameBoot(then) && Math.abs(clock.apart(then, ticker())) <= READING;
      long known = clock.known(then);
      long now = ticker().nanos();
      known = goesOn ? now : known;
      MemoryStore store = MemoryStore.restored(in, maxKeys, maxBytes, known, now);
      if (afterCrash == AfterCrash.AMNESTY) {
        store.forgetUnknown();
      }
      Logs.LOG.info(
          "state: %s: %d keys restored%s"
              .formatted(
                  name,
                  store.keys(),
                  clock.sameBoot(then)
                      ? ""
                      : "; how long the machine was down is not known, so they count that much"
                          + " longer"));
      return store;
    } catch (NoSuchFileException e) {
      return new MemoryStore(maxKeys, maxBytes);
    } catch (IOException e) {
      return damaged(image, e, maxKeys, maxBytes);
    }
  }

  private MemoryStore damaged(Path image, IOException why, long maxKeys, long maxBytes)
      throws StartException {
    boolean deny = afterCrash == AfterCrash.DENY;
    Path aside = image.resolveSibling(image.getFileName() + ".damaged");
    Logs.LOG.warning(
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
        mark(); // Even if this start fails, the next one must not treat the past as known.
        unknown = true;
      }
      Files.move(image, aside, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw unusable(setting, folder, e);
    }
    return deny ? unknown(maxKeys, maxBytes) : new MemoryStore(maxKeys, maxBytes);
  }

  private MemoryStore unknown(long maxKeys, long maxBytes) {
    MemoryStore store = new MemoryStore(maxKeys, maxBytes);
    store.unknownBefore(ticker().nanos());
    return store;
  }

  @Override
  public void begin() throws StartException {
    try {
      if (!unknown) {
        mark();
      }
      begun = true;
    } catch (IOException e) {
      throw unusable(setting, folder, e);
    }
  }

  private void mark() throws IOException {
    Path mark = folder.resolve(RUNNING);
    Files.writeString(mark, "A server runs, or has ended without saving its counts.\n");
    sync(mark);
    sync(folder);
  }

  private static StartException unusable(String setting, Path folder, IOException e) {
    return new StartException(setting + ": " + IoCauses.folder(folder, e), e);
  }

  private ScheduledExecutorService every(Duration interval) {
    ScheduledExecutorService thread =
        Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-state"));
    var unused =
        thread.scheduleWithFixedDelay(
            this::saveSome, interval.toNanos(), interval.toNanos(), TimeUnit.NANOSECONDS);
    return thread;
  }

  private void saveSome() {
    try {
      whileOpen(
          () -> {
            if (begun) {
              saveAll();
            }
          });
    } catch (IOException | RuntimeException e) {
      Logs.LOG.warning("state: no image: " + e);
    }
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

  /** Releases the folder for other servers, unless a save runs. */
  private void release() {
    if (saving.tryLock()) {
      try {
        closeQuietly(lock);
      } finally {
        saving.unlock();
      }
    }
  }

  /** Writes an image of each table; the images are complete if nothing is decided any more. */
  private long saveAll() throws IOException {
    long keys = 0;
    for (Map.Entry<String, SavedTable> each : tables.entrySet()) {
      Path image = folder.resolve(each.getKey() + IMAGE);
      Path next = folder.resolve(each.getKey() + IMAGE + ".next");
      Files.deleteIfExists(next);
      try (FileChannel channel = privately(next)) {
        keys += save(each.getValue(), channel);
        channel.force(true);
      }
      Files.move(next, image, StandardCopyOption.ATOMIC_MOVE);
    }
    sync(folder);
    return keys;
  }

  private long save(SavedTable table, FileChannel file) throws IOException {
    OutputStream out = Channels.newOutputStream(file);
    DataOutputStream head = new DataOutputStream(out);
    clock.reading(ticker()).write(head);
    head.writeUTF(table.keys());
    head.flush();
    return table.store().save(out);
  }

  private static FileChannel privately(Path file) throws IOException {
    var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    return file.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? FileChannel.open(
            file,
            options,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))
        : FileChannel.open(file, options);
  }

  @Override
  public long bytes() {
    return tables.values().stream().mapToLong(each -> each.store().bytes()).sum();
  }

  @Override
  public void saveAndUnmark() throws IOException {
    stopSaving();
    if (!begun) {
      return;
    }
    try {
      whileOpen(this::saveLast);
    } catch (IOException | RuntimeException e) {
      throw new IOException("not saved, the next start is one after a crash: " + e, e);
    } finally {
      begun = false;
    }
  }

  private void saveLast() throws IOException {
    long begin = clock.ticker().nanos();
    if (unknown) {
      // The past of a table that this run did not have is unknown to the next run too.
      for (String name : NAMES) {
        tables.computeIfAbsent(name, absent -> new SavedTable(unknown(1, 1), ""));
      }
    }
    long keys = saveAll();
    Files.deleteIfExists(folder.resolve(RUNNING));
    sync(folder);
    Logs.LOG.info(
        "state: %d keys saved in %d ms"
            .formatted(keys, TimeUnit.NANOSECONDS.toMillis(clock.ticker().nanos() - begin)));
  }

  private void stopSaving() {
    if (saver != null) {
      saver.shutdownNow();
    }
  }

  /**
   * Closes the folder without saving. It stays in the state that {@link #saveAndUnmark} has left,
   * or that a crash would leave, or as it was found.
   */
  @Override
  public void close() {
    stopSaving();
    closed = true;
    release();
  }

  private static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
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
