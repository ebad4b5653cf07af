package dev.weir.spring;

import dev.weir.Fingerprint;
import dev.weir.MemoryStore;
import dev.weir.StateFolder;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.engine.RunningEngine;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.util.unit.DataSize;

/**
 * The folder of {@code weir.state}, if there is one: it keeps the engine's counts over the ends of
 * the application. Used by the threads that start and stop the application, one after the other.
 */
final class CountsFolder implements AutoCloseable {
  /*
   * The engine depends on this bean, so it is closed before it: no request is decided any more when
   * the counts are saved. Requests have ended even earlier, when the web server was stopped.
   */

  private static final System.Logger LOG = System.getLogger(CountsFolder.class.getName());

  /** The name of the store's files. */
  private static final String STORE = "limits";

  private @Nullable StateFolder folder;

  /**
   * Opens the folder of the properties, if they name one, and has an engine count in it.
   *
   * @param shared the store that the engine shares, by whose fingerprints it then identifies keys
   * @param ownTicker the application's own clock, or null
   * @throws WeirPropertiesException if the folder cannot be used
   */
  void give(
      WeirProperties properties,
      @Nullable Store shared,
      @Nullable Ticker ownTicker,
      RunningEngine.Builder builder) {
    WeirProperties.State state = properties.state();
    if (state.dir() == null) {
      return;
    }
    String fingerprints = fingerprints(shared);
    if (ownTicker != null) {
      throw wrong(state.dir(), "no bean of the type Ticker beside it");
    } else if (fingerprints == null) {
      throw wrong(state.dir(), "a shared store with Fingerprint.shared(), or none, beside it");
    }
    try {
      StateFolder opened =
          StateFolder.builder(Path.of(state.dir()))
              .durability(state.durability())
              .afterCrash(state.afterCrash())
              .afterCrashOption("weir.state.after-crash")
              .open();
      folder = opened;
      MemoryStore store =
          opened.store(STORE, fingerprints, maxKeys(properties), maxBytes(properties));
      Store answering = opened.answering(store);
      opened.begin();
      builder.memory(answering).ticker(opened.ticker());
    } catch (IOException e) {
      throw wrong(state.dir(), "a folder to write, of this process alone: " + e.getMessage());
    }
  }

  private static WeirPropertiesException wrong(@Nullable String dir, String expected) {
    return new WeirPropertiesException(new PropertyProblem("weir.state.dir", dir, expected));
  }

  /** Returns a word for the fingerprints; null if they may be others in the next process. */
  private static @Nullable String fingerprints(@Nullable Store shared) {
    if (shared == null) {
      return "its own";
    }
    return shared.fingerprint() == Fingerprint.shared() ? "shared" : null;
  }

  private static long maxKeys(WeirProperties properties) {
    Long given = properties.maxKeys();
    return given == null ? MemoryStore.DEFAULT_MAX_KEYS : given;
  }

  private static long maxBytes(WeirProperties properties) {
    DataSize given = properties.maxMemory();
    return given == null ? MemoryStore.defaultMaxBytes() : given.toBytes();
  }

  /** Saves the counts, when nothing is decided any more. */
  @Override
  public void close() {
    StateFolder opened = folder;
    folder = null;
    if (opened != null) {
      try (opened) {
        opened.save();
      } catch (IOException e) {
        LOG.log(Level.WARNING, "state: {0}", e.getMessage());
      }
    }
  }
}
