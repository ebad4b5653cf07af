package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.redis.RedisStore;
import dev.weir.server.internal.access.PasswordFile;
import dev.weir.server.internal.log.FewLines;
import dev.weir.server.internal.log.LogEvent;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Setting;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.internal.settings.StoreUri;
import dev.weir.server.settings.StartException;
import dev.weir.shared.Clocks;
import dev.weir.shared.ClusterMember;
import dev.weir.shared.Counters;
import dev.weir.shared.SharedStore;
import dev.weir.shared.StoreSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/** The opening of the store that a server shares with others, by its settings. */
final class StoreOpener {
  private final ServerSettings settings;
  private final FewLines details;
  private final FewLines states;
  private final SharedStoreConnection.Warnings warnings;

  private StoreOpener(ServerSettings settings, Ticker ticker) {
    this.settings = settings;
    details = new FewLines(ticker);
    states = new FewLines(ticker);
    warnings = new SharedStoreConnection.Warnings(new FewLines(ticker));
  }

  /**
   * Opens the store, whether it can be reached or not. Returns {@link StoreConnection#NONE} if
   * limits are counted in this process alone.
   *
   * @throws StartException if its password cannot be read, or this server cannot be the cluster's
   *     member
   * @throws InterruptedException if the thread is interrupted while it waits for the cluster
   */
  static StoreConnection open(ServerSettings settings, Ticker ticker)
      throws StartException, InterruptedException {
    StoreOpener opener = new StoreOpener(settings, ticker);
    if (!settings.value(Settings.CLUSTER).isEmpty()) {
      return opener.joined();
    }
    Optional<StoreUri> uri = settings.value(Settings.STORE);
    if (uri.isEmpty()) {
      return StoreConnection.NONE;
    }
    return uri.get().seeds().isEmpty() ? opener.redis(uri.get()) : opener.connected(uri.get());
  }

  private SharedStoreConnection redis(StoreUri uri) throws StartException {
    Details known = new Details(details);
    RedisStore.Builder builder =
        uri.builder()
            .prefix(settings.value(Settings.STORE_PREFIX))
            .timeout(settings.value(Settings.STORE_TIMEOUT))
            .replicas(settings.value(Settings.STORE_REPLICAS))
            .afterCrash(settings.value(Settings.STORE_AFTER_CRASH))
            .log(known)
            .warnings(warnings);
    Optional<Path> file = settings.value(Settings.STORE_PASSWORD_FILE);
    if (file.isPresent()) {
      builder.password(
          PasswordFile.read(settings.source(Settings.STORE_PASSWORD_FILE), file.get()));
    }
    RedisStore store = builder.build();
    known.store = store;
    return shared(store, uri, "shared");
  }

  /** Returns the store of the cluster that this server joins as a member. */
  private SharedStoreConnection joined() throws StartException, InterruptedException {
    ClusterMembership membership =
        provider(Settings.CLUSTER)
            .join(settings, storeSettings(), line -> details.write(detail(Level.INFO, line)));
    List<String> names =
        settings.value(Settings.CLUSTER).stream().map(ClusterMember::name).toList();
    return new MemberStore(
        membership, "the cluster of " + String.join(", ", names), states, warnings);
  }

  /** Returns the store of a cluster of which this server is not a member. */
  private SharedStoreConnection connected(StoreUri uri)
      throws StartException, InterruptedException {
    SharedStore store =
        provider(Settings.STORE)
            .connect(
                settings, uri, storeSettings(), line -> details.write(detail(Level.INFO, line)));
    return shared(store, uri, "the cluster's");
  }

  private SharedStoreConnection shared(SharedStore store, StoreUri uri, String keys) {
    return new SharedStoreConnection(
        store, StoreProbe.of(store), uri.toString(), keys, states, warnings);
  }

  private static ClusterProvider provider(Setting<?> setting) throws StartException {
    try {
      return ClusterProvider.find();
    } catch (StartException e) {
      throw new StartException(setting.flag() + ": " + e.getMessage(), e);
    }
  }

  private StoreSettings storeSettings() {
    return new StoreSettings(
        "cluster",
        settings.value(Settings.STORE_TIMEOUT).toNanos(),
        new Clocks(Ticker.system(), Ticker.wall()),
        false,
        line -> details.write(detail(Level.INFO, "store: " + line)),
        warnings,
        new Counters());
  }

  private static LogEvent detail(Level level, String line) {
    return LogEvent.of(level, "store_detail", line);
  }

  /** The store's own log lines, which are warnings while the store does not decide. */
  private static final class Details implements Consumer<String> {
    private final FewLines lines;
    private volatile @Nullable RedisStore store;

    Details(FewLines lines) {
      this.lines = lines;
    }

    @Override
    public void accept(String line) {
      RedisStore known = store;
      boolean decides = known != null && known.available();
      Level level = decides ? Level.INFO : Level.WARNING;
      lines.write(detail(level, "store: " + StoreUri.hiddenIn(line)));
    }
  }
}
