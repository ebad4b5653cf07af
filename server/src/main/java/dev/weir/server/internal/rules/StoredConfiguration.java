package dev.weir.server.internal.rules;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.follow.ConfigClient;
import dev.weir.config.follow.FollowerStatus;
import dev.weir.config.rows.Counts;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineMetrics;
import dev.weir.engine.KeyPolicies;
import dev.weir.engine.SubjectMetrics;
import dev.weir.engine.SubjectSettings;
import dev.weir.rules.RuleSet;
import dev.weir.rules.RuleSource;
import dev.weir.server.internal.access.PasswordFile;
import dev.weir.server.internal.metrics.ConfigFamilies;
import dev.weir.server.internal.metrics.CountedConfig;
import dev.weir.server.internal.metrics.Families;
import dev.weir.server.internal.metrics.ServerMetrics;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Setting;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.internal.settings.StoreUri;
import dev.weir.server.settings.StartException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The configuration store of a server, with the data that this server takes from it: rules, unless
 * they come from files, and the limits of subjects. Safe for use by many threads.
 */
public final class StoredConfiguration implements Configuration {
  private static final int RANDOM_BYTES = 4;
  private static final int MAX_ADDRESS = 100;

  /** The hosts that mean every address: they do not state where the server can be reached. */
  private static final Set<String> ANY = Set.of("0.0.0.0", "::", "[::]");

  /** The largest table of subjects, for 268 million. */
  private static final long MAX_CACHE = 4L << 30;

  private final LateConfigStore store;
  private final ConfigClient client;
  private final String node;
  private final AdminAddress adminAddress;
  private final String where;
  private final SubjectSettings subjects;
  private final DecisionCounts decided;

  /** The counts of this server's decisions, once it has an engine. */
  private static final class DecisionCounts implements Supplier<Counts> {
    private volatile @Nullable Engine engine;

    @Override
    public Counts get() {
      Engine of = engine;
      if (of == null) {
        return Counts.NONE;
      }
      EngineMetrics metrics = of.metrics();
      return new Counts(metrics.requests(), Math.min(metrics.requests(), metrics.denied()));
    }
  }

  /** The address at which other servers can reach this one, once its port is open. */
  private static final class AdminAddress implements Supplier<String> {
    private volatile String address = "";

    @Override
    public String get() {
      return address;
    }
  }

  private StoredConfiguration(
      ServerSettings settings,
      LateConfigStore store,
      String node,
      DecisionCounts decided,
      Ticker ticker,
      String where) {
    this.store = store;
    this.decided = decided;
    this.node = node;
    adminAddress = new AdminAddress();
    client = client(settings, store, node, adminAddress, decided, ticker);
    this.where = where;
    subjects =
        new SubjectSettings(
            settings.value(Settings.LIMITS_TIMEOUT).toNanos(),
            SubjectSettings.DEFAULTS.maxWaiting());
  }

  /** Opens the store. See {@link Configuration#open}. */
  static StoredConfiguration open(ServerSettings settings, String address, Ticker ticker)
      throws StartException {
    Setting<?> setting =
        settings.value(Settings.DATA_DIR).isPresent() ? Settings.DATA_DIR : Settings.CONFIG_STORE;
    String source = settings.source(setting);
    String password = password(settings);
    LateConfigStore store = new LateConfigStore(() -> ConfigStores.open(address, password), ticker);
    try {
      store.open();
    } catch (IllegalArgumentException e) {
      throw new StartException(source + ": " + shown(e), e);
    } catch (ConfigException e) {
      if (setting == Settings.DATA_DIR && e.getCause() instanceof IOException) {
        throw new StartException(source + ": " + shown(e), e); // A folder does not come back.
      }
      String remedy = remedy(e.kind());
      if (remedy != null) {
        throw new StartException(source + ": " + shown(e) + "; " + remedy, e);
      }
    }
    String where = StoreUri.hidden(address.replaceFirst("(?s)\\?.*", ""));
    return new StoredConfiguration(
        settings, store, node(settings), new DecisionCounts(), ticker, where);
  }

  @Override
  public void decidesBy(Engine engine) {
    decided.engine = engine;
  }

  private static String shown(RuntimeException e) {
    return StoreUri.hidden(String.valueOf(e.getMessage()));
  }

  /** Returns the remedy for a failure that does not end by itself, or null. */
  private static @Nullable String remedy(Kind kind) {
    return switch (kind) {
      case IN_USE -> "stop the other process, or give this server a store of its own";
      case DAMAGED ->
          "the server was not started: restore the store from a copy, or start with --rules and"
              + " without the store";
      case FULL -> "free some space on its disk";
      case CONFLICT, UNAVAILABLE -> null;
    };
  }

  private static String password(ServerSettings settings) throws StartException {
    Optional<Path> file = settings.value(Settings.CONFIG_STORE_PASSWORD_FILE);
    return file.isEmpty()
        ? ""
        : PasswordFile.read(settings.source(Settings.CONFIG_STORE_PASSWORD_FILE), file.get());
  }

  private static ConfigClient client(
      ServerSettings settings,
      ConfigStore store,
      String node,
      Supplier<String> adminAddress,
      Supplier<Counts> decided,
      Ticker ticker) {
    ConfigClient.Builder builder =
        ConfigClient.builder(store, node)
            .shownAs(address(settings), ServerMetrics.version())
            .adminAt(adminAddress)
            .counts(decided)
            .defaults(settings.ruleDefaults())
            .patience(Duration.ZERO)
            .emptyAtFirst()
            .cacheBytes(Math.min(MAX_CACHE, settings.value(Settings.LIMITS_CACHE)))
            .ticker(ticker);
    settings.lastKnown().ifPresent(builder::lastKnown);
    settings.value(Settings.CONFIG_MAX_STALE).ifPresent(builder::maxStale);
    if (!settings.rulesFromStore()) {
      builder.withoutRules();
    }
    return builder.open();
  }

  /** Returns the number of the first port for requests; 0 if that is any free one. */
  private static int port(ServerSettings settings) {
    return settings
        .value(Settings.PORT)
        .or(() -> settings.value(Settings.GRPC_PORT))
        .or(() -> settings.value(Settings.RESP_PORT))
        .orElse(0);
  }

  private static String node(ServerSettings settings) {
    int port = port(settings);
    return settings
        .value(Settings.NODE_NAME)
        .orElseGet(() -> machine() + (port == 0 ? "-" + random() : ":" + port));
  }

  /**
   * Returns a random part of a name: two servers on one machine that take free ports must differ as
   * well.
   */
  private static String random() {
    byte[] bytes = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private static String address(ServerSettings settings) {
    int port = port(settings);
    return cut(settings.value(Settings.HOST)) + (port == 0 ? "" : ":" + port);
  }

  private static String machine() {
    try {
      return cut(InetAddress.getLocalHost().getHostName());
    } catch (UnknownHostException e) {
      return "weir-" + random();
    }
  }

  private static String cut(String name) {
    return name.substring(0, Math.min(name.length(), MAX_ADDRESS));
  }

  @Override
  public Optional<StoredConfiguration> stored() {
    return Optional.of(this);
  }

  public ConfigStore store() {
    return store;
  }

  /** Returns this server's name in the store's list of servers. */
  public String node() {
    return node;
  }

  @Override
  public void adminAt(ServerSettings settings, int port) {
    String host = settings.value(Settings.ADMIN_HOST);
    if (ANY.contains(host)) {
      host = settings.value(Settings.ADMIN_HOSTS).stream().findFirst().orElse("");
    }
    if (!host.isEmpty()) {
      boolean v6 = host.contains(":") && !host.startsWith("[");
      String scheme = settings.value(Settings.TLS_CERT).isPresent() ? "https://" : "http://";
      adminAddress.address = scheme + (v6 ? "[" + host + "]" : host) + ":" + port;
    }
  }

  /** Returns the source of the rules that are in the store. */
  RuleSource rules() {
    return client.rules();
  }

  @Override
  public void follow(RuleSet current, RuleSource.Taker taker) {
    client.rules().follow(current, taker);
  }

  @Override
  public void inForce(RuleSet rules) {
    client.inForce(rules);
  }

  /** Returns the state of the follower of the store. */
  public FollowerStatus status() {
    return client.ruleStatus();
  }

  @Override
  public void addMetrics(Families to, SubjectMetrics subjectMetrics) {
    ConfigFamilies.add(to, new CountedConfig(status(), subjectMetrics, client.subjectStatus()));
  }

  @Override
  public KeyPolicies policies() {
    return client.subjects();
  }

  @Override
  public SubjectSettings subjects() {
    return subjects;
  }

  @Override
  public void close() {
    client.close();
    store.close();
  }

  /** Returns the store's address, without options and password. */
  @Override
  public String toString() {
    return where;
  }
}
