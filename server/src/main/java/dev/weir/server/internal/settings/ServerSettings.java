package dev.weir.server.internal.settings;

import dev.weir.engine.EngineSettings;
import dev.weir.rules.RuleDefaults;
import dev.weir.server.settings.SettingsException;
import dev.weir.shared.ClusterMember;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a server. Each {@link Setting} is taken from the first source that has it: the
 * flags, the environment, the settings file, the environment under envoyproxy/ratelimit's name, the
 * default. Immutable.
 */
public final class ServerSettings {
  /** A value in its written form, with its source: {@code --port}, {@code weir.yaml:3:7 port}. */
  record WrittenValue(String where, String text) {}

  private static final String DEFAULT = "default";

  private static final Set<Setting<?>> LISTS =
      Set.of(Settings.RULES, Settings.ADMIN_HOSTS, Settings.CLUSTER);

  private static final String USE_TLS = "GRPC_SERVER_USE_TLS";

  /** The names of variables that Kubernetes sets in every container for a service named "weir". */
  private static final Pattern SERVICE_LINK = Pattern.compile("WEIR_(SERVICE|PORT)_.*");

  private static final Pattern WHOLE = Pattern.compile("-?\\d+");

  private final List<String> warnings = new ArrayList<>();
  private final Map<Setting<?>, Object> values = new HashMap<>();
  private final Map<Setting<?>, String> sources = new HashMap<>();

  private ServerSettings() {}

  /** Returns the default settings. */
  public static ServerSettings defaults() {
    return of(Map.of(), Map.of());
  }

  /**
   * Returns the settings of the given flags.
   *
   * @param flags by {@link Setting#name()}
   * @throws SettingsException if a setting is unknown or its value is not accepted
   */
  public static ServerSettings of(Map<String, String> flags) {
    return of(flags, Map.of());
  }

  /**
   * Returns the settings of flags, environment and the settings file that they may name.
   *
   * @param flags by {@link Setting#name()}
   * @param environment all variables; those that are not Weir's are ignored
   * @throws SettingsException if a setting is unknown or its value is not accepted; names all
   *     problems at once
   */
  public static ServerSettings of(Map<String, String> flags, Map<String, String> environment) {
    ServerSettings settings = new ServerSettings();
    List<String> problems = new ArrayList<>();
    Map<String, Setting<?>> byName = new HashMap<>();
    Map<String, Setting<?>> byVariable = new HashMap<>();
    for (Setting<?> setting : Settings.all()) {
      byName.put(setting.name(), setting);
      byVariable.put(setting.variable(), setting);
    }
    flags.keySet().stream()
        .filter(flag -> !byName.containsKey(flag))
        .sorted()
        .forEach(flag -> problems.add("--" + flag + ": unknown (expected: a setting's name)"));
    environment.keySet().stream()
        .filter(variable -> variable.startsWith("WEIR_") && !byVariable.containsKey(variable))
        .filter(variable -> !SERVICE_LINK.matcher(variable).matches())
        .sorted()
        .forEach(variable -> settings.warnings.add(variable + ": not a setting, ignored"));

    settings.read(Settings.CONFIG, first(Settings.CONFIG, flags, environment), problems);
    Map<String, WrittenValue> file =
        settings
            .value(Settings.CONFIG)
            .map(path -> SettingsFile.read(path, byName.keySet(), problems))
            .orElse(Map.of());
    for (Setting<?> setting : Settings.all()) {
      if (setting != Settings.CONFIG) {
        WrittenValue written = first(setting, flags, environment);
        if (written == null) {
          written = file.get(setting.name());
        }
        settings.read(setting, written == null ? envoy(setting, environment) : written, problems);
      }
    }
    if (problems.isEmpty()) {
      settings.checkTogether(problems);
    }
    if (!problems.isEmpty()) {
      throw new SettingsException(problems);
    }
    return settings;
  }

  private static @Nullable WrittenValue first(
      Setting<?> setting, Map<String, String> flags, Map<String, String> environment) {
    String flag = flags.get(setting.name());
    if (flag != null) {
      return new WrittenValue(setting.flag(), flag);
    }
    String variable = environment.get(setting.variable());
    boolean serviceLink = variable != null && variable.startsWith("tcp://");
    return variable == null || serviceLink ? null : new WrittenValue(setting.variable(), variable);
  }

  /** Returns the value of the variable of envoyproxy/ratelimit, or null. */
  private static @Nullable WrittenValue envoy(Setting<?> setting, Map<String, String> environment) {
    if (setting == Settings.RULES) {
      return runtimeFolder(environment);
    }
    boolean tls =
        setting == Settings.GRPC_TLS_CERT
            || setting == Settings.GRPC_TLS_KEY
            || setting == Settings.GRPC_TLS_CLIENT_CA;
    if (tls && !List.of("true", "t", "1").contains(environment.getOrDefault(USE_TLS, ""))) {
      return null;
    }
    String text = environment.get(setting.envoyVariable());
    return text == null || text.isEmpty() ? null : new WrittenValue(setting.envoyVariable(), text);
  }

  /**
   * Returns the rule files of the settings of envoyproxy/ratelimit: the rules are in a subfolder,
   * named {@code config} unless a variable names another.
   */
  private static @Nullable WrittenValue runtimeFolder(Map<String, String> environment) {
    String root = environment.get("RUNTIME_ROOT");
    if (root == null || root.isEmpty()) {
      return null;
    }
    Path folder = Path.of(root, environment.getOrDefault("RUNTIME_SUBDIRECTORY", ""));
    Path inside = folder.resolve(environment.getOrDefault("RUNTIME_APPDIRECTORY", "config"));
    return new WrittenValue(
        "RUNTIME_ROOT", (Files.isDirectory(inside) ? inside : folder).toString());
  }

  private <T> void read(Setting<T> setting, @Nullable WrittenValue written, List<String> problems) {
    String where = written == null ? DEFAULT : written.where;
    String text = written == null ? setting.defaultText() : written.text;
    sources.put(setting, where);
    if (written == null && text.isEmpty()) {
      return;
    }
    try {
      values.put(setting, setting.kind().reader().read(text.strip()));
    } catch (IllegalArgumentException | ArithmeticException e) {
      String shown = StoreUri.hidden(text); // For every setting: a URI may have a wrong name.
      boolean number = setting.placeholder().split("[|]", 2)[0].equals("N");
      boolean odd = number && !WHOLE.matcher(text.strip()).matches();
      String expected = (odd ? "a whole number, " : "") + setting.expected();
      problems.add(where + ": " + shown + " (expected: " + expected + ")");
    }
  }

  private void checkTogether(List<String> problems) {
    PortChecks.check(this, problems);
    StoreChecks.check(this, problems, warnings);
    ConfigChecks.check(this, problems, warnings);
    UpstreamChecks.check(this, problems, warnings);
    ClusterChecks.check(this, problems, warnings);
    PortChecks.checkReach(this, problems, warnings);
  }

  void checkShorter(Setting<Duration> shorter, Setting<Duration> longer, List<String> problems) {
    if (value(shorter).compareTo(value(longer)) >= 0) {
      problems.add(
          source(shorter)
              + ": "
              + SettingKind.text(value(shorter))
              + " (expected: less than "
              + longer.flag()
              + ", "
              + SettingKind.text(value(longer))
              + ")");
    }
  }

  void checkReadable(Setting<Optional<Path>> file, List<String> problems) {
    value(file)
        .filter(path -> !Files.isReadable(path))
        .ifPresent(
            path -> problems.add(source(file) + ": " + path + " (expected: a readable file)"));
  }

  /** Returns whether ports on this address can be reached only from this machine. */
  boolean loopback(Setting<String> host) {
    try {
      return Arrays.stream(InetAddress.getAllByName(value(host)))
          .allMatch(InetAddress::isLoopbackAddress);
    } catch (UnknownHostException e) {
      return false; // The name may be resolved later, to an address that others can reach.
    }
  }

  /** Returns the value in force. */
  @SuppressWarnings("unchecked") // Only read() puts values, each under a setting of its type.
  public <T> T value(Setting<T> setting) {
    Object value = values.get(setting);
    return (T) (value != null ? value : absent(setting));
  }

  private static Object absent(Setting<?> setting) {
    return LISTS.contains(setting) ? List.of() : Optional.empty();
  }

  /** Returns the source of the value in force: a flag, a variable, a file, or "default". */
  public String source(Setting<?> setting) {
    return sources.getOrDefault(setting, DEFAULT);
  }

  /** Returns whether the value in force has a source other than the default. */
  boolean written(Setting<?> setting) {
    return !source(setting).equals(DEFAULT);
  }

  /** Returns warnings: settings without effect, and variables that look like a setting's. */
  public List<String> warnings() {
    return List.copyOf(warnings);
  }

  /**
   * Returns the address of the configuration store, or none. It may hold a password, if the user
   * has put one there.
   */
  public Optional<String> configStore() {
    return value(Settings.DATA_DIR)
        .map(folder -> "rocksdb:" + folder)
        .or(() -> value(Settings.CONFIG_STORE));
  }

  /** Returns the folder that keeps the counts over restarts, or none. */
  public Optional<Path> stateFolder() {
    return value(Settings.NO_STATE)
        ? Optional.empty()
        : value(Settings.STATE_DIR)
            .or(() -> value(Settings.DATA_DIR).map(folder -> folder.resolve("state")));
  }

  /**
   * Returns the source of a folder that is one in {@link Settings#DATA_DIR} unless a setting names
   * another.
   */
  public String folderSource(Setting<Optional<Path>> setting) {
    return source(value(setting).isPresent() ? setting : Settings.DATA_DIR);
  }

  /** Returns whether limits are counted together with other servers: in a store, or a cluster. */
  public boolean shares() {
    return value(Settings.STORE).isPresent() || !value(Settings.CLUSTER).isEmpty();
  }

  /** Returns the folder of this member of a cluster, or none. */
  public Optional<Path> clusterFolder() {
    return value(Settings.CLUSTER_DIR)
        .or(() -> value(Settings.DATA_DIR).map(folder -> folder.resolve("cluster")));
  }

  /** Returns the name under which this server appears to a cluster's members. */
  public String clusterName() {
    return value(Settings.CLUSTER_NAME).orElseGet(ClusterChecks::hostName);
  }

  /** Returns the cluster member that this server is, or none. */
  public Optional<ClusterMember> clusterMember() {
    return ClusterChecks.self(this);
  }

  /** Returns the address on which this member of a cluster listens for the others, or none. */
  public Optional<InetSocketAddress> clusterListen() {
    List<ClusterMember> members = value(Settings.CLUSTER);
    if (members.isEmpty()) {
      return Optional.empty();
    }
    ClusterMember first = members.get(0);
    return value(Settings.CLUSTER_LISTEN)
        .or(
            () ->
                first.standsForAll()
                    ? Optional.of(InetSocketAddress.createUnresolved("0.0.0.0", first.port()))
                    : clusterMember()
                        .map(self -> InetSocketAddress.createUnresolved(self.host(), self.port())));
  }

  /** Returns whether the rules are those of the configuration store. */
  public boolean rulesFromStore() {
    return value(Settings.RULES).isEmpty() && configStore().isPresent();
  }

  /** Returns the file for the rules last known, or none. */
  public Optional<Path> lastKnown() {
    return value(Settings.CONFIG_LAST_KNOWN)
        .or(() -> value(Settings.DATA_DIR).map(folder -> folder.resolve("last-known")));
  }

  /** Returns the defaults for options that a rule does not set. */
  public RuleDefaults ruleDefaults() {
    return new RuleDefaults(value(Settings.ON_FAILURE), value(Settings.LOCAL_SHARE).orElse(1.0));
  }

  /**
   * Returns whether {@code CL.THROTTLE} and {@code THROTTLE} are counted in a shared store.
   *
   * @param store true if there is one
   */
  public boolean sharesThrottle(boolean store) {
    return value(Settings.THROTTLE_STORE).orElse(store ? ThrottleStore.SHARED : ThrottleStore.LOCAL)
        == ThrottleStore.SHARED;
  }

  public EngineSettings engine() {
    return new EngineSettings(
        value(Settings.SHADOW_MODE),
        value(Settings.NEAR_LIMIT_RATIO),
        value(Settings.MAX_DESCRIPTORS),
        value(Settings.MAX_ENTRIES),
        value(Settings.MAX_KEY_LENGTH),
        value(Settings.MAX_QUEUED),
        value(Settings.MAX_LEASES));
  }
}
