package dev.weir.server;

import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.redis.RedisMetrics;
import dev.weir.redis.RedisStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/** The store that this server shares with others, and what the log says of it. */
final class SharedStore {
  private final Store store;
  private final Supplier<RedisMetrics> metrics;
  private final String where;
  private final FewLines log;

  /** What the log has said last, null before. */
  private @Nullable Boolean said;

  /**
   * @param where for people, without a password
   */
  SharedStore(Store store, Supplier<RedisMetrics> metrics, String where, FewLines log) {
    this.store = store;
    this.metrics = metrics;
    this.where = where;
    this.log = log;
  }

  /**
   * Opens the store by the settings, whether it can be reached or not. Returns null if it is this
   * process alone.
   *
   * @throws StartException if its password cannot be read
   */
  static @Nullable SharedStore open(ServerSettings settings, Ticker ticker) throws StartException {
    StoreUri uri = settings.value(Setting.STORE).orElse(null);
    if (uri == null) {
      return null;
    }
    FewLines log = new FewLines(ticker);
    RedisStore store =
        RedisStore.builder(withPassword(settings, uri).reveal())
            .prefix(settings.value(Setting.STORE_PREFIX))
            .timeout(settings.value(Setting.STORE_TIMEOUT))
            .replicas(settings.value(Setting.STORE_REPLICAS))
            .log(line -> log.write(Level.WARNING, "store: " + StoreUri.hidden(line)))
            .build();
    return new SharedStore(store, store::metrics, uri.toString(), log);
  }

  private static StoreUri withPassword(ServerSettings settings, StoreUri uri)
      throws StartException {
    Optional<Path> file = settings.value(Setting.STORE_PASSWORD_FILE);
    if (file.isEmpty()) {
      return uri;
    }
    String where = settings.source(Setting.STORE_PASSWORD_FILE) + ": " + file.get();
    try {
      String password =
          Files.readString(file.get(), StandardCharsets.UTF_8).replaceFirst("\\R$", "");
      if (password.isEmpty() || password.lines().count() > 1) {
        throw new StartException(where + ": not one line (expected: the password alone)");
      }
      return uri.withPassword(password);
    } catch (IOException e) {
      throw new StartException(where + ": cannot be read: " + e + " (expected: a password)", e);
    }
  }

  Store store() {
    return store;
  }

  RedisMetrics metrics() {
    return metrics.get();
  }

  /** Tells the log when the store is lost or reached; to be called every second or so. */
  void look() {
    boolean available = metrics().available();
    if (said == null || said != available) {
      boolean written =
          available
              ? log.write(Level.INFO, "store: " + where + " decides")
              : log.write(
                  Level.WARNING,
                  "store: "
                      + where
                      + " cannot be reached; until it can, rules answer as their on_failure says");
      if (written) {
        said = available;
      }
    }
  }

  /** Returns where it is, without a password. */
  @Override
  public String toString() {
    return where;
  }
}
