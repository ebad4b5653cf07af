package dev.weir.config.rocksdb;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.rocksdb.Anchor.Mark;
import dev.weir.config.rows.Rows;
import dev.weir.internal.Backoff;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Snapshot;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;

/** Rows in RocksDB, in a folder that only this process uses. */
final class RocksRows implements Rows {
  /*
   * How does RocksRows outlive a failing disk? After an error in writing, such as a full disk,
   * RocksDB refuses every write until it is opened again; reads go on. So the next write after a
   * pause closes it and opens it again, under the write side of a lock whose read side every other
   * call holds: a native object must not be used once it is closed. If it cannot be opened, calls
   * are refused as unavailable, and the next ones try again, after a pause that doubles each time.
   * The free space is checked before a write: if the disk is full while RocksDB writes its list of
   * files, the database may be impossible to open.
   */
  private static final Backoff PAUSES_NANOS = new Backoff(1_000_000_000, 60_000_000_000L);
  private static final System.Logger LOG = System.getLogger("dev.weir.config.rocksdb");

  private final Folder folder;
  private final RocksSettings settings;
  private final Ticker ticker;
  private final Ticker wall;
  private final FreeSpace space;
  private final Anchor anchor;

  /** The writers' lock; taken before the next one. */
  private final ReentrantLock writing = new ReentrantLock();

  /** A lock whose write side opens and closes the database, and whose read side uses it. */
  private final ReadWriteLock using = new ReentrantReadWriteLock();

  /** Null after a failed opening, and once this is closed. */
  private @Nullable OpenDatabase opened;

  /** The number of its list of files. */
  private long manifest;

  private boolean closed;

  /**
   * The reason why nothing can be written until the database is opened again; null while it can.
   */
  private @Nullable WriteFailure broken;

  private long retryAtNanos;

  /** The number of openings since the last that succeeded. */
  private int reopenings;

  /** The reason why a write failed. */
  private record WriteFailure(Kind kind, String error) {}

  private RocksRows(Folder folder, RocksSettings settings, Ticker ticker, Ticker wall)
      throws IOException {
    this.folder = folder;
    this.settings = settings;
    this.ticker = ticker;
    this.wall = wall;
    space =
        settings.minFreeBytes() == 0
            ? FreeSpace.usual(folder.path())
            : FreeSpace.atLeast(folder.path(), settings.minFreeBytes());
    boolean create = !folder.hasDatabase();
    if (create) {
      space.require();
    } else if (!folder.hasCurrent()) {
      throw Damage.missing(folder);
    }
    anchor = Anchor.open(folder.anchor());
    try {
      open(create);
    } catch (RocksDBException e) {
      anchor.close();
      throw Damage.atOpening(folder, e);
    } catch (IOException | RuntimeException | Error e) {
      anchor.close();
      throw e;
    }
  }

  /** Opens the database, or creates it; refuses one that is older than the anchor records. */
  private void open(boolean create) throws RocksDBException, IOException {
    Mark known = anchor.read();
    if (known == null) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0}: unreadable (expected: as written); whether the last writes are there is not known",
          folder.anchor());
    }
    if (folder.hasCurrent()) {
      requireManifest(known == null || create ? Mark.NONE : known);
      requireLogs();
    }
    OpenDatabase now = OpenDatabase.open(folder, settings, create);
    try {
      long sequence = now.database().getLatestSequenceNumber();
      if (known != null && sequence < known.sequence()) {
        older("the last " + (known.sequence() - sequence) + " rows that were written are gone");
      }
      manifest = folder.manifest();
      Mark mark = new Mark(sequence, manifest, Files.size(folder.manifestFile(manifest)));
      anchor.write(mark);
      anchor.write(mark);
    } catch (IOException | RuntimeException | Error e) {
      now.close();
      throw e;
    }
    opened = now;
  }

  /**
   * Checks the list of files. Called before the database is opened, which would delete files that
   * are not on the list.
   */
  private void requireManifest(Mark known) throws IOException {
    long number = folder.manifest();
    LogFile.Sound list = LogFile.read(folder.manifestFile(number));
    if (list.damaged()) {
      throw Damage.beyondRecovery(folder, Damage.of(folder.manifestFile(number), list.bytes()));
    }
    if (number < known.manifest()
        || (number == known.manifest() && list.bytes() < known.manifestBytes())) {
      older("the list of files is shorter than it was, so rows may be gone");
    }
  }

  /**
   * Checks the logs: with some damages RocksDB's reader would never return, and others it would not
   * report.
   */
  private void requireLogs() throws IOException {
    for (Path log : folder.logs()) {
      LogFile.Sound sound = settings.recover() ? LogFile.disarm(log) : LogFile.read(log);
      if (sound.damaged()) {
        older(Damage.of(log, sound.bytes()));
      }
    }
  }

  /**
   * Throws, or with {@code recover=true} logs a warning and goes on without the unreadable part.
   */
  private void older(String how) {
    if (!settings.recover()) {
      throw Damage.found(folder, how);
    }
    LOG.log(System.Logger.Level.WARNING, "{0}: recovered; {1}", folder.database(), how);
  }

  /**
   * Opens the database, or creates it in a folder without one.
   *
   * @throws ConfigException of kind IN_USE, DAMAGED or UNAVAILABLE
   */
  static RocksRows open(RocksSettings settings, Ticker ticker, Ticker wall) {
    Folder folder = Folder.lock(settings.folder());
    try {
      Natives.load(folder.path().resolve("native"));
      return new RocksRows(folder, settings, ticker, wall);
    } catch (IOException e) {
      folder.close();
      throw new ConfigException(Kind.UNAVAILABLE, folder.path() + ": " + e.getMessage(), e);
    } catch (RuntimeException | Error e) {
      folder.close();
      throw e;
    }
  }

  /** A use of the open database by one call. */
  private interface Use<T> {
    T of(OpenDatabase opened) throws RocksDBException, IOException;
  }

  private <T> T use(Use<T> use) {
    using.readLock().lock();
    try {
      OpenDatabase current = opened;
      if (current == null) {
        throw unavailable();
      }
      return use.of(current);
    } catch (RocksDBException e) {
      throw failure(e);
    } catch (IOException e) {
      throw new ConfigException(Kind.UNAVAILABLE, folder.path() + ": " + e.getMessage(), e);
    } finally {
      using.readLock().unlock();
    }
  }

  private ConfigException unavailable() {
    WriteFailure cause = broken;
    String state = closed || cause == null ? "closed" : "not open after: " + cause.error();
    return new ConfigException(
        Kind.UNAVAILABLE, folder.path() + ": " + state + " (expected: open)");
  }

  private ConfigException failure(RocksDBException e) {
    Status status = e.getStatus();
    if (status != null && status.getCode() == Status.Code.Corruption) {
      return Damage.atReading(folder, e);
    }
    return new ConfigException(
        kind(e),
        folder.database() + ": " + Damage.line(e) + " (expected: a disk that reads and writes)",
        e);
  }

  private static Kind kind(Exception e) {
    return e instanceof RocksDBException error && Damage.isFull(error)
        ? Kind.FULL
        : Kind.UNAVAILABLE;
  }

  @Override
  public List<byte @Nullable []> get(Table table, List<byte[]> keys) {
    return keys.isEmpty() ? List.of() : use(current -> get(current, table, keys));
  }

  /** Reads rows one by one: RocksJava's method for many keys reports a damaged row as missing. */
  private static List<byte @Nullable []> get(OpenDatabase opened, Table table, List<byte[]> keys)
      throws RocksDBException {
    RocksDB database = opened.database();
    List<byte @Nullable []> values = new ArrayList<>(keys.size());
    Snapshot moment = database.getSnapshot();
    try (ReadOptions options = new ReadOptions().setSnapshot(moment)) {
      for (byte[] key : keys) {
        values.add(database.get(opened.table(table), options, key));
      }
    } finally {
      database.releaseSnapshot(moment);
    }
    return values;
  }

  @Override
  public List<Row> scan(Table table, byte[] from, byte @Nullable [] to, int limit) {
    if (to != null && Arrays.compareUnsigned(from, to) >= 0) {
      return List.of();
    }
    return use(
        current -> {
          List<Row> rows = new ArrayList<>();
          try (Slice end = new Slice(to == null ? new byte[0] : to);
              ReadOptions options = new ReadOptions()) {
            if (to != null) {
              options.setIterateUpperBound(end);
            }
            try (RocksIterator at = current.database().newIterator(current.table(table), options)) {
              for (at.seek(from); at.isValid() && rows.size() < limit; at.next()) {
                rows.add(new Row(at.key(), at.value()));
              }
              at.status(); // The end of the rows and an error both end the loop.
            }
          }
          return rows;
        });
  }

  @Override
  public <T> T update(Update<T> update) {
    writing.lock();
    try {
      space.require();
      reopenIfBroken();
      return use(
          current -> {
            try (WriteBatch batch = new WriteBatch()) {
              T result =
                  update.run(
                      (table, keys) -> get(table, keys), batch(current, batch), wall.nanos());
              if (batch.count() > 0) {
                write(current, batch);
              }
              return result;
            }
          });
    } finally {
      writing.unlock();
    }
  }

  private void write(OpenDatabase current, WriteBatch batch) throws RocksDBException, IOException {
    try {
      current.database().write(current.synced(), batch);
      anchor.write(
          new Mark(
              current.database().getLatestSequenceNumber(),
              manifest,
              Files.size(folder.manifestFile(manifest))));
    } catch (RocksDBException | IOException e) {
      failed(e);
      throw e;
    }
  }

  private static Batch batch(OpenDatabase current, WriteBatch batch) {
    return new Batch() {
      @Override
      public void put(Table table, byte[] key, byte[] value) {
        run(() -> batch.put(current.table(table), key, value));
      }

      @Override
      public void delete(Table table, byte[] key) {
        run(() -> batch.delete(current.table(table), key));
      }
    };
  }

  /** An addition to a batch, which fails only if the batch is larger than memory. */
  private interface Step {
    void run() throws RocksDBException;
  }

  private static void run(Step step) {
    try {
      step.run();
    } catch (RocksDBException e) {
      throw new IllegalStateException(Damage.line(e), e);
    }
  }

  @Override
  public void put(Table table, byte[] key, byte @Nullable [] value) {
    writing.lock();
    try {
      space.require();
      reopenIfBroken();
      boolean unused =
          use(
              current -> {
                try {
                  if (value == null) {
                    current.database().delete(current.table(table), current.unsynced(), key);
                  } else {
                    current.database().put(current.table(table), current.unsynced(), key, value);
                  }
                } catch (RocksDBException e) {
                  failed(e);
                  throw e;
                }
                return true;
              });
    } finally {
      writing.unlock();
    }
  }

  /** Records that the database must be opened again before the next write. */
  private void failed(Exception e) {
    broken = new WriteFailure(kind(e), Damage.line(e));
    retryAtNanos = ticker.nanos() + PAUSES_NANOS.longest(reopenings);
  }

  /** Opens the database again after a failed write, unless that was tried a moment ago. */
  private void reopenIfBroken() {
    WriteFailure cause = broken;
    if (cause == null || closed) {
      return;
    }
    if (ticker.nanos() < retryAtNanos) {
      throw new ConfigException(
          cause.kind(),
          folder.path() + ": not written, " + cause.error() + " (expected: a disk that writes)");
    }
    retryAtNanos = ticker.nanos() + PAUSES_NANOS.longest(reopenings++);
    using.writeLock().lock();
    try {
      closeDatabase();
      open(false);
      broken = null;
      reopenings = 0;
      LOG.log(
          System.Logger.Level.INFO, "{0}: open again after: {1}", folder.database(), cause.error());
    } catch (RocksDBException e) {
      throw Damage.atOpening(folder, e);
    } catch (IOException e) {
      throw new ConfigException(Kind.UNAVAILABLE, folder.path() + ": " + e.getMessage(), e);
    } finally {
      using.writeLock().unlock();
    }
  }

  private void closeDatabase() {
    if (opened != null) {
      opened.close();
      opened = null;
    }
  }

  @Override
  public long wallNanos() {
    return wall.nanos();
  }

  @Override
  public void close() {
    writing.lock();
    using.writeLock().lock();
    try {
      if (!closed) {
        closed = true;
        closeDatabase();
        anchor.close();
        folder.close();
      }
    } catch (IOException e) {
      throw new ConfigException(Kind.UNAVAILABLE, folder.path() + ": " + e.getMessage(), e);
    } finally {
      using.writeLock().unlock();
      writing.unlock();
    }
  }
}
