package dev.weir.server.internal.state;

import dev.weir.MemoryStore;
import dev.weir.StateFolder;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.internal.DaemonThreads;
import dev.weir.internal.IoCauses;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.settings.StartException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;

/**
 * The storage that keeps the counts of a server's tables over its restarts, or that keeps nothing.
 * Used by one thread at a time, except for {@link #ticker()}, {@link #bytes()}, {@link
 * #isComplete()}, {@link #journalBytes} and {@link #awaitBegun}.
 */
public final class StateStorage implements AutoCloseable {
  /** The tables that servers have; one run may have fewer of them than another. */
  public static final String RULES = "rules";

  public static final String THROTTLE = "throttle";

  private static final StateFolder.Log LOG =
      new StateFolder.Log() {
        @Override
        public void info(String line) {
          Logs.LOG.info(line);
        }

        @Override
        public void warning(String line) {
          Logs.LOG.warning(line);
        }
      };

  /** An executor with a thread of its own, for {@link #open}. */
  public static final Executor OWN_THREAD =
      task -> DaemonThreads.create("weir-reading", task).start();

  /** Without a folder: nothing is kept. */
  public static final StateStorage NONE = new StateStorage(Optional.empty(), "");

  private final Optional<StateFolder> folder;

  /** The name of the setting that gives the folder. */
  private final String setting;

  private StateStorage(Optional<StateFolder> folder, String setting) {
    this.folder = folder;
    this.setting = setting;
  }

  /**
   * Opens the folder of the settings, and makes it if it is not there; without one, nothing is
   * kept.
   *
   * @param reader reads the counts after {@link #begin}
   * @throws StartException if it cannot be used, or another server uses it
   */
  public static StateStorage open(ServerSettings settings, Executor reader) throws StartException {
    Optional<Path> path = settings.stateFolder();
    if (path.isEmpty()) {
      return NONE;
    }
    String setting = settings.folderSource(Settings.STATE_DIR);
    Optional<Path> data = settings.value(Settings.DATA_DIR);
    if (settings.value(Settings.STATE_DIR).isEmpty() && data.isPresent()) {
      try {
        Files.createDirectories(data.get());
      } catch (IOException e) {
        throw new StartException(setting + ": " + IoCauses.folder(data.get(), e), e);
      }
    }
    try {
      StateFolder folder =
          StateFolder.builder(path.get())
              .durability(settings.value(Settings.STATE_DURABILITY))
              .afterCrash(settings.value(Settings.STATE_AFTER_CRASH))
              .afterCrashOption(Settings.STATE_AFTER_CRASH.flag())
              .interval(settings.value(Settings.STATE_INTERVAL))
              .log(LOG)
              .readBy(reader)
              .open();
      return new StateStorage(Optional.of(folder), setting);
    } catch (IOException e) {
      throw unusable(setting, e);
    }
  }

  private static StartException unusable(String setting, IOException e) {
    return new StartException(setting + ": " + e.getMessage(), e);
  }

  /** Returns whether anything is kept. */
  public boolean keeps() {
    return folder.isPresent();
  }

  /** Returns whether the counts would be complete if the process died now. */
  public boolean isComplete() {
    return folder.isPresent() && folder.get().isComplete();
  }

  /** Returns the bytes of the journals that are in use. */
  public long journalBytes() {
    return folder.map(StateFolder::journalBytes).orElse(0L);
  }

  /** Returns the clock that decides: that of the last run if it is still right. */
  public Ticker ticker() {
    return folder.map(StateFolder::ticker).orElseGet(Ticker::system);
  }

  /**
   * Returns a table that continues the last run's, or a new one if there was none.
   *
   * @param name the name of its image
   * @param keys a word for the fingerprints by which it identifies keys
   * @throws StartException if the storage cannot be written
   */
  public MemoryStore table(String name, String keys, long maxKeys, long maxBytes)
      throws StartException {
    try {
      return folder.isEmpty()
          ? new MemoryStore(maxKeys, maxBytes)
          : folder.get().store(name, keys, maxKeys, maxBytes);
    } catch (IOException e) {
      throw unusable(setting, e);
    }
  }

  /**
   * Returns the store that answers for a table of this storage: the table itself, or one that
   * answers when it is on the disk. To be called before {@link #begin}.
   */
  public Store answering(MemoryStore table) {
    return folder.isEmpty() ? table : folder.get().answering(table);
  }

  /**
   * Begins to read the counts, and marks that a server runs when they are there; the tables decide
   * nothing before that.
   *
   * @throws StartException if the storage cannot be written
   */
  public void begin() throws StartException {
    try {
      if (folder.isPresent()) {
        folder.get().begin();
      }
    } catch (IOException e) {
      throw unusable(setting, e);
    }
  }

  /**
   * Waits until the counts are read and the tables decide.
   *
   * @return false if the time is over before that
   * @throws StartException if the storage cannot be read or written
   * @throws CancellationException if the storage was saved or closed before that
   */
  public boolean awaitBegun(Duration timeout) throws StartException, InterruptedException {
    try {
      return folder.isEmpty() || folder.get().awaitBegun(timeout);
    } catch (IOException e) {
      throw unusable(setting, e);
    }
  }

  /** Returns the bytes of memory of the tables, which are about those of their images. */
  public long bytes() {
    return folder.map(StateFolder::bytes).orElse(0L);
  }

  /**
   * Saves everything, when nothing is decided any more, and removes the mark. After this, the next
   * start is an orderly one.
   *
   * @throws IOException if it is not saved; the next start then goes on with the journal, or is one
   *     after a crash if that is not {@linkplain #isComplete complete}
   */
  public void save() throws IOException {
    if (folder.isPresent()) {
      folder.get().save();
    }
  }

  /** Closes the storage without saving. A save that still runs keeps it in use until it ends. */
  @Override
  public void close() {
    folder.ifPresent(StateFolder::close);
  }
}
