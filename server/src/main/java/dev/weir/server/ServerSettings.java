package dev.weir.server;

import dev.weir.FailureAnswer;
import dev.weir.engine.EngineSettings;
import dev.weir.rules.RuleDefaults;
import java.net.InetAddress;
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
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a server is told to do. Each {@link Setting} is taken from the first that has it: the flags,
 * the environment, the settings file, the environment under envoyproxy/ratelimit's name, the
 * default. Immutable.
 */
public final class ServerSettings {
  /** A value as it was written, and where: {@code --port}, {@code weir.yaml:3:7 port}. */
  record Written(String where, String text) {}

  private static final String DEFAULT = "default";

  private static final List<Setting<?>> OF_THE_STORE =
      List.of(
          Setting.STORE_PASSWORD_FILE,
          Setting.STORE_PREFIX,
          Setting.STORE_TIMEOUT,
          Setting.STORE_REPLICAS);

  private static final String USE_TLS = "GRPC_SERVER_USE_TLS";

  /** Kubernetes tells every container about a service named "weir" in variables such as these. */
  private static final Pattern SERVICE_LINK = Pattern.compile("WEIR_(SERVICE|PORT)_.*");

  private final List<String> warnings = new ArrayList<>();
  private final Map<Setting<?>, Object> values = new HashMap<>();
  private final Map<Setting<?>, String> sources = new HashMap<>();

  private ServerSettings() {}

  /** Returns the settings that hold where nobody says anything. */
  public static ServerSettings defaults() {
    return of(Map.of(), Map.of());
  }

  /**
   * Returns the settings by those flags.
   *
   * @param flags by {@link Setting#name()}
   * @throws SettingsException if any is unknown or has a value that it does not take
   */
  public static ServerSettings of(Map<String, String> flags) {
    return of(flags, Map.of());
  }

  /**
   * Returns the settings by flags, environment and the settings file that they may name.
   *
   * @param flags by {@link Setting#name()}
   * @param environment all variables; those that are not Weir's are left alone
   * @throws SettingsException if any is unknown or has a value that it does not take; names all
   *     problems at once
   */
  public static ServerSettings of(Map<String, String> flags, Map<String, String> environment) {
    ServerSettings settings = new ServerSettings();
    List<String> problems = new ArrayList<>();
    Map<String, Setting<?>> byName = new HashMap<>();
    Map<String, Setting<?>> byVariable = new HashMap<>();
    for (Setting<?> setting : Setting.all()) {
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

    settings.read(Setting.CONFIG, first(Setting.CONFIG, flags, environment), problems);
    Map<String, Written> file =
        settings
            .value(Setting.CONFIG)
            .map(path -> SettingsFile.read(path, byName.keySet(), problems))
            .orElse(Map.of());
    for (Setting<?> setting : Setting.all()) {
      if (setting != Setting.CONFIG) {
        Written written = first(setting, flags, environment);
        if (written == null) {
          written = file.get(setting.name());
        }
        settings.read(
            setting, written == null ? fallback(setting, environment) : written, problems);
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

  private static @Nullable Written first(
      Setting<?> setting, Map<String, String> flags, Map<String, String> environment) {
    String flag = flags.get(setting.name());
    if (flag != null) {
      return new Written(setting.flag(), flag);
    }
    String variable = environment.get(setting.variable());
    boolean serviceLink = variable != null && variable.startsWith("tcp://");
    return variable == null || serviceLink ? null : new Written(setting.variable(), variable);
  }

  /** Looks for the variable that the user of envoyproxy/ratelimit has set already. */
  private static @Nullable Written fallback(Setting<?> setting, Map<String, String> environment) {
    if (setting == Setting.RULES) {
      return runtimeFolder(environment);
    }
    boolean tls =
        setting == Setting.GRPC_TLS_CERT
            || setting == Setting.GRPC_TLS_KEY
            || setting == Setting.GRPC_TLS_CLIENT_CA;
    if (tls && !List.of("true", "t", "1").contains(environment.getOrDefault(USE_TLS, ""))) {
      return null;
    }
    String text = environment.get(setting.fallbackVariable());
    return text == null || text.isEmpty() ? null : new Written(setting.fallbackVariable(), text);
  }

  /** The rules lie in a folder of a folder, named {@code config} unless the user says otherwise. */
  private static @Nullable Written runtimeFolder(Map<String, String> environment) {
    String root = environment.get("RUNTIME_ROOT");
    if (root == null || root.isEmpty()) {
      return null;
    }
    Path folder = Path.of(root, environment.getOrDefault("RUNTIME_SUBDIRECTORY", ""));
    Path inside = folder.resolve(environment.getOrDefault("RUNTIME_APPDIRECTORY", "config"));
    return new Written("RUNTIME_ROOT", (Files.isDirectory(inside) ? inside : folder).toString());
  }

  private <T> void read(Setting<T> setting, @Nullable Written written, List<String> problems) {
    String where = written == null ? DEFAULT : written.where;
    String text = written == null ? setting.defaultText() : written.text;
    sources.put(setting, where);
    if (written == null && text.isEmpty()) {
      return;
    }
    try {
      values.put(setting, setting.kind().reader().read(text.strip()));
    } catch (IllegalArgumentException | ArithmeticException e) {
      String shown = StoreUri.hidden(text); // Whatever the setting: it may have got a wrong name.
      problems.add(where + ": " + shown + " (expected: " + setting.expected() + ")");
    }
  }

  private void checkTogether(List<String> problems) {
    int port = value(Setting.PORT);
    if (port != 0 && port == value(Setting.GRPC_PORT)) {
      problems.add(
          source(Setting.GRPC_PORT) + ": " + port + " (expected: another port than HTTP's)");
    }
    int resp = value(Setting.RESP_PORT).orElse(0);
    if (resp != 0 && (resp == port || resp == value(Setting.GRPC_PORT))) {
      problems.add(
          source(Setting.RESP_PORT) + ": " + resp + " (expected: another port than the others')");
    }
    checkTls(TlsSettings.ALL, problems);
    checkTls(TlsSettings.GRPC, problems);
    checkReadable(Setting.TOKEN_FILE, problems);
    checkStore(problems);
    checkOnFailure(problems);
    if (!loopback() && !authenticated()) {
      if (value(Setting.INSECURE)) {
        warnings.add(
            source(Setting.INSECURE)
                + ": whoever reaches "
                + value(Setting.HOST)
                + " may ask for permits and use up those of others");
      } else {
        problems.add(
            source(Setting.HOST)
                + ": "
                + value(Setting.HOST)
                + " is open to others (expected: --token-file, or --tls-client-ca, or --insecure)");
      }
    }
  }

  private void checkStore(List<String> problems) {
    checkReadable(Setting.STORE_PASSWORD_FILE, problems);
    Optional<StoreUri> store = value(Setting.STORE);
    if (store.isEmpty()) {
      for (Setting<?> setting : OF_THE_STORE) {
        if (!source(setting).equals(DEFAULT)) {
          warnings.add(source(setting) + ": of no effect without " + Setting.STORE.flag());
        }
      }
      return;
    }
    int replicas = value(Setting.STORE_REPLICAS);
    try {
      store.get().builder().replicas(replicas);
    } catch (IllegalArgumentException e) {
      problems.add(
          source(Setting.STORE_REPLICAS) + ": " + replicas + " (expected: 0 for a cluster)");
    }
    // Or connections would be closed for the time that the store takes.
    checkShorter(Setting.STORE_TIMEOUT, Setting.REQUEST_TIMEOUT, problems);
    checkShorter(Setting.STORE_TIMEOUT, Setting.IDLE_TIMEOUT, problems);
  }

  private void checkOnFailure(List<String> problems) {
    boolean local = value(Setting.ON_FAILURE) == FailureAnswer.LOCAL;
    boolean share = value(Setting.LOCAL_SHARE).isPresent();
    if (local && !share) {
      problems.add(
          source(Setting.ON_FAILURE)
              + ": local (expected: "
              + Setting.LOCAL_SHARE.flag()
              + " too, "
              + Setting.LOCAL_SHARE.expected()
              + ")");
    } else if (local && value(Setting.STORE).isEmpty()) {
      warnings.add(
          source(Setting.ON_FAILURE)
              + ": local is as deny without "
              + Setting.STORE.flag()
              + ", there is no other store to turn to");
    } else if (share && !local) {
      warnings.add(
          source(Setting.LOCAL_SHARE)
              + ": of no effect without "
              + Setting.ON_FAILURE.flag()
              + " local");
    }
  }

  private void checkShorter(
      Setting<Duration> shorter, Setting<Duration> longer, List<String> problems) {
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

  private void checkTls(TlsSettings tls, List<String> problems) {
    boolean cert = value(tls.certificate()).isPresent();
    if (cert != value(tls.key()).isPresent()) {
      Setting<?> given = cert ? tls.certificate() : tls.key();
      problems.add(source(given) + ": certificate without key, or key without (expected: both)");
    }
    if (!cert && value(tls.clientCa()).isPresent()) {
      problems.add(source(tls.clientCa()) + ": client CA alone (expected: a certificate too)");
    }
    checkReadable(tls.certificate(), problems);
    checkReadable(tls.key(), problems);
    checkReadable(tls.clientCa(), problems);
  }

  private void checkReadable(Setting<Optional<Path>> file, List<String> problems) {
    value(file)
        .filter(path -> !Files.isReadable(path))
        .ifPresent(
            path -> problems.add(source(file) + ": " + path + " (expected: a readable file)"));
  }

  /** Returns whether only this machine can reach the doors. */
  private boolean loopback() {
    try {
      return Arrays.stream(InetAddress.getAllByName(value(Setting.HOST)))
          .allMatch(InetAddress::isLoopbackAddress);
    } catch (UnknownHostException e) {
      return false; // Whoever knows the name later may know another machine by it.
    }
  }

  /** Returns whether every door knows who may ask. */
  private boolean authenticated() {
    boolean grpcAlone = value(Setting.GRPC_TLS_CERT).isPresent();
    boolean all = value(Setting.TLS_CLIENT_CA).isPresent();
    boolean grpc = grpcAlone ? value(Setting.GRPC_TLS_CLIENT_CA).isPresent() : all;
    return value(Setting.TOKEN_FILE).isPresent() || (all && grpc);
  }

  /** Returns the value in force. */
  @SuppressWarnings("unchecked") // Only read() puts values, each under a setting of its type.
  public <T> T value(Setting<T> setting) {
    Object value = values.get(setting);
    return (T) (value != null ? value : absent(setting));
  }

  private static Object absent(Setting<?> setting) {
    return setting == Setting.RULES ? List.of() : Optional.empty();
  }

  /** Returns where the value in force was written: a flag, a variable, a file, or "default". */
  public String source(Setting<?> setting) {
    return sources.getOrDefault(setting, DEFAULT);
  }

  /** Returns what the user may have meant otherwise: variables that look like a setting's. */
  public List<String> warnings() {
    return List.copyOf(warnings);
  }

  /** Returns what holds for rules that do not say it themselves. */
  RuleDefaults ruleDefaults() {
    return new RuleDefaults(value(Setting.ON_FAILURE), value(Setting.LOCAL_SHARE).orElse(1.0));
  }

  EngineSettings engine() {
    return new EngineSettings(
        value(Setting.SHADOW_MODE),
        value(Setting.NEAR_LIMIT_RATIO),
        value(Setting.MAX_DESCRIPTORS),
        value(Setting.MAX_ENTRIES),
        value(Setting.MAX_KEY_LENGTH));
  }
}
