package dev.weir.server;

import dev.weir.FailureAnswer;
import dev.weir.MemoryStore;
import dev.weir.engine.EngineSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One thing about the server that a user can set: its name, what it takes, its default, and where
 * it is read from. Immutable.
 *
 * @param <T> of its value
 */
public final class Setting<T> {
  private static final List<Setting<?>> ALL = new ArrayList<>();

  private static final String NO_SUCH_VARIABLE = "";

  /** The file that the other settings may stand in. */
  public static final Setting<Optional<Path>> CONFIG =
      new Setting<>(
          "config", SettingKind.file(), "", "YAML file of settings: one \"name: value\" a line.");

  /** Rule files and folders; none means the rules that are built in. */
  public static final Setting<List<Path>> RULES =
      new Setting<>(
          "rules",
          SettingKind.files(),
          "",
          "Rule files or folders of them, watched for changes. Without: a small demonstration.");

  public static final Setting<String> HOST =
      new Setting<>("host", SettingKind.host(), "127.0.0.1", "Address that all doors listen on.");

  public static final Setting<Integer> PORT =
      new Setting<>("port", SettingKind.number(0, 65_535), "8080", "HTTP port; 0 takes a free one.")
          .orEnvironment("PORT");

  public static final Setting<Integer> GRPC_PORT =
      new Setting<>(
              "grpc-port", SettingKind.number(0, 65_535), "8081", "gRPC port; 0 takes a free one.")
          .orEnvironment("GRPC_PORT");

  public static final Setting<Optional<Integer>> RESP_PORT =
      new Setting<>(
          "resp-port",
          SettingKind.portOrOff(),
          "6380",
          "Port for Redis clients; 0 takes a free one, off opens none.");

  /** None where each server counts for itself. */
  public static final Setting<Optional<StoreUri>> STORE =
      new Setting<>(
          "store",
          SettingKind.store(),
          "local",
          "Where limits are counted: local, or the URI of a Redis or Valkey that servers share.");

  public static final Setting<Optional<Path>> STORE_PASSWORD_FILE =
      new Setting<>(
          "store-password-file",
          SettingKind.file(),
          "",
          "File with the store's password, in place of one in --store.");

  public static final Setting<String> STORE_PREFIX =
      new Setting<>(
          "store-prefix",
          SettingKind.storePrefix(),
          "weir",
          "What all keys in the store begin with; servers that share limits have the same.");

  public static final Setting<Duration> STORE_TIMEOUT =
      new Setting<>(
          "store-timeout",
          SettingKind.duration(Duration.ofMillis(1), Duration.ofMinutes(1)),
          "100ms",
          "Longest wait for the store's decision; then a rule's on_failure answers.");

  public static final Setting<Integer> STORE_REPLICAS =
      new Setting<>(
          "store-replicas",
          SettingKind.number(0, 16),
          "0",
          "Replicas that must have a decision before it is answered.");

  public static final Setting<FailureAnswer> ON_FAILURE =
      new Setting<>(
          "on-failure",
          SettingKind.choice(FailureAnswer.class),
          "deny",
          "What rules that do not say on_failure answer when the store cannot know.");

  /** None where nobody says it. */
  public static final Setting<Optional<Double>> LOCAL_SHARE =
      new Setting<>(
          "local-share",
          SettingKind.share(),
          "",
          "With --on-failure local: the share of each limit that this server then admits by itself.");

  public static final Setting<LoadSource> LOAD_SIGNAL =
      new Setting<>(
          "load-signal",
          SettingKind.choice(LoadSource.class),
          "cpu",
          "What elastic rules take for the load: processors, requests in flight, or what is posted to /v1/load.");

  public static final Setting<Integer> LOAD_IN_FLIGHT =
      new Setting<>(
          "load-in-flight",
          SettingKind.number(1, 1_000_000),
          "100",
          "With --load-signal in-flight: how many undecided requests are full load.");

  public static final Setting<Duration> LOAD_KEEP =
      new Setting<>(
          "load-keep",
          SettingKind.duration(Duration.ofSeconds(1), Duration.ofHours(1)),
          "10s",
          "A load that is older is not known any more, and elastic rules are hard.");

  public static final Setting<Boolean> SHADOW_MODE =
      new Setting<>(
              "shadow-mode",
              SettingKind.onOff(),
              "false",
              "Let every request pass; the statuses keep the truth.")
          .orEnvironment("SHADOW_MODE");

  /** In percent. */
  public static final Setting<Integer> NEAR_LIMIT_RATIO =
      new Setting<>(
              "near-limit-ratio",
              SettingKind.percent(),
              "0.8",
              "Share of a limit from which on permits count as near it.")
          .orEnvironment("NEAR_LIMIT_RATIO");

  public static final Setting<Boolean> RESPONSE_HEADERS =
      new Setting<>(
              "response-headers",
              SettingKind.onOff(),
              "false",
              "Have Envoy add the three headers below to its responses.")
          .orEnvironment("LIMIT_RESPONSE_HEADERS_ENABLED");

  public static final Setting<String> LIMIT_HEADER =
      new Setting<>(
              "limit-header",
              SettingKind.headerName(),
              "RateLimit-Limit",
              "Header for Envoy with the limit.")
          .orEnvironment("LIMIT_LIMIT_HEADER");

  public static final Setting<String> REMAINING_HEADER =
      new Setting<>(
              "remaining-header",
              SettingKind.headerName(),
              "RateLimit-Remaining",
              "Header for Envoy with what is left.")
          .orEnvironment("LIMIT_REMAINING_HEADER");

  public static final Setting<String> RESET_HEADER =
      new Setting<>(
              "reset-header",
              SettingKind.headerName(),
              "RateLimit-Reset",
              "Header for Envoy with the seconds until more is available.")
          .orEnvironment("LIMIT_RESET_HEADER");

  public static final Setting<OlderFields> OLDER_FIELDS =
      new Setting<>(
          "older-fields",
          SettingKind.choice(OlderFields.class),
          "none",
          "Older header fields that /v1/check sends besides RateLimit and RateLimit-Policy.");

  public static final Setting<LogLevel> LOG_LEVEL =
      new Setting<>(
              "log-level", SettingKind.choice(LogLevel.class), "info", "What is worth a log line.")
          .orEnvironment("LOG_LEVEL");

  public static final Setting<LogFormat> LOG_FORMAT =
      new Setting<>(
              "log-format",
              SettingKind.choice(LogFormat.class),
              "text",
              "How a log line is written, to standard error.")
          .orEnvironment("LOG_FORMAT");

  /** Rules, descriptors and keys of the largest sensible request fit many times over. */
  public static final Setting<Integer> MAX_BODY_BYTES =
      new Setting<>(
          "max-body-bytes",
          SettingKind.number(1_024, 64 << 20),
          Integer.toString(1 << 20),
          "Most bytes of one request, on any door.");

  public static final Setting<Integer> MAX_DESCRIPTORS =
      new Setting<>(
          "max-descriptors",
          SettingKind.number(1, 65_536),
          Integer.toString(EngineSettings.DEFAULTS.maxDescriptors()),
          "Most descriptors of one request.");

  public static final Setting<Integer> MAX_ENTRIES =
      new Setting<>(
          "max-entries",
          SettingKind.number(1, 1_024),
          Integer.toString(EngineSettings.DEFAULTS.maxEntries()),
          "Most entries of one descriptor.");

  public static final Setting<Integer> MAX_KEY_LENGTH =
      new Setting<>(
          "max-key-length",
          SettingKind.number(1, 1 << 20),
          Integer.toString(EngineSettings.DEFAULTS.maxKeyLength()),
          "Most characters of a domain, a key or a value.");

  public static final Setting<Long> MAX_KEYS =
      new Setting<>(
          "max-keys",
          SettingKind.count(1, 1L << 40),
          Long.toString(MemoryStore.DEFAULT_MAX_KEYS),
          "Most keys that are counted at once; what becomes of more, their rule says.");

  public static final Setting<Long> THROTTLE_MAX_KEYS =
      new Setting<>(
          "throttle-max-keys",
          SettingKind.count(1, 1L << 32),
          Long.toString(MemoryStore.DEFAULT_MAX_KEYS),
          "Most keys of CL.THROTTLE and THROTTLE at once, beside max-keys; more are limited.");

  public static final Setting<Long> MAX_MEMORY =
      new Setting<>(
          "max-memory",
          SettingKind.memory(),
          "50%",
          "Most memory for the state of keys, or the share of the heap; with a RESP port a quarter is for CL.THROTTLE.");

  public static final Setting<Long> MAX_PENDING_MEMORY =
      new Setting<>(
          "max-pending-memory",
          SettingKind.memory(),
          "10%",
          "Most memory for unfinished requests and unread answers; beyond it the largest are closed.");

  public static final Setting<Integer> MAX_CONNECTIONS =
      new Setting<>(
          "max-connections",
          SettingKind.number(1, 1_000_000),
          "10000",
          "Most connections at once, on each door.");

  public static final Setting<Integer> MAX_STREAMS =
      new Setting<>(
          "max-streams",
          SettingKind.number(1, 1_000_000),
          "1000",
          "Most gRPC calls at once on one connection.");

  public static final Setting<Duration> REQUEST_TIMEOUT =
      new Setting<>(
          "request-timeout",
          SettingKind.duration(Duration.ofMillis(100), Duration.ofHours(1)),
          "5s",
          "Longest that a client may take to send a request.");

  public static final Setting<Duration> MAX_WAIT =
      new Setting<>(
          "max-wait",
          SettingKind.duration(Duration.ofMillis(10), Duration.ofHours(1)),
          "1s",
          "A request that has waited longer, on an event loop that is late again and again, is"
              + " answered OVERLOADED, undecided.");

  public static final Setting<Duration> IDLE_TIMEOUT =
      new Setting<>(
          "idle-timeout",
          SettingKind.duration(Duration.ofSeconds(1), Duration.ofDays(30)),
          "5m",
          "A connection without a request for so long is closed.");

  public static final Setting<Duration> MIN_KEEPALIVE =
      new Setting<>(
          "min-keepalive",
          SettingKind.duration(Duration.ZERO, Duration.ofHours(1)),
          "10s",
          "gRPC clients that send keepalive pings more often are disconnected.");

  public static final Setting<Duration> MAX_CONNECTION_AGE =
      new Setting<>(
              "max-connection-age",
              SettingKind.duration(Duration.ZERO, Duration.ofDays(365)),
              "0s",
              "gRPC connections older than that are asked to reconnect; 0 means never.")
          .orEnvironment("GRPC_MAX_CONNECTION_AGE");

  public static final Setting<Duration> MAX_CONNECTION_AGE_GRACE =
      new Setting<>(
              "max-connection-age-grace",
              SettingKind.duration(Duration.ZERO, Duration.ofDays(365)),
              "1h",
              "How long calls on a connection that is too old may go on.")
          .orEnvironment("GRPC_MAX_CONNECTION_AGE_GRACE");

  public static final Setting<Duration> DRAIN_DELAY =
      new Setting<>(
          "drain-delay",
          SettingKind.duration(Duration.ZERO, Duration.ofHours(1)),
          "0s",
          "When stopping: how long to go on answering after saying not ready.");

  public static final Setting<Duration> DRAIN_TIMEOUT =
      new Setting<>(
          "drain-timeout",
          SettingKind.duration(Duration.ZERO, Duration.ofHours(1)),
          "10s",
          "When stopping: longest wait for requests in flight.");

  public static final Setting<Boolean> NO_WARMUP =
      new Setting<>(
          "no-warmup",
          SettingKind.onOff(),
          "false",
          "Be ready at once, and slow at first, rather than warm.");

  public static final Setting<Optional<Path>> TOKEN_FILE =
      new Setting<>(
          "token-file",
          SettingKind.file(),
          "",
          "File of tokens, one a line, one of which every client must show; watched for changes.");

  public static final Setting<Boolean> INSECURE =
      new Setting<>(
          "insecure",
          SettingKind.onOff(),
          "false",
          "Listen beyond this machine though anybody there may then ask.");

  public static final Setting<Optional<Path>> TLS_CERT =
      new Setting<>(
          "tls-cert",
          SettingKind.file(),
          "",
          "Certificate chain (PEM) of all doors, watched for changes; without it, plain text.");

  public static final Setting<Optional<Path>> TLS_KEY =
      new Setting<>("tls-key", SettingKind.file(), "", "Private key (PEM, PKCS #8) of all doors.");

  public static final Setting<Optional<Path>> TLS_CLIENT_CA =
      new Setting<>(
          "tls-client-ca",
          SettingKind.file(),
          "",
          "Certificates (PEM) that must have signed every client's; without it, any client.");

  public static final Setting<Optional<Path>> GRPC_TLS_CERT =
      new Setting<>(
              "grpc-tls-cert",
              SettingKind.file(),
              "",
              "Certificate chain (PEM) of the gRPC door alone, instead of --tls-cert.")
          .orEnvironment("GRPC_SERVER_TLS_CERT");

  public static final Setting<Optional<Path>> GRPC_TLS_KEY =
      new Setting<>(
              "grpc-tls-key",
              SettingKind.file(),
              "",
              "Private key (PEM, PKCS #8) of the gRPC door.")
          .orEnvironment("GRPC_SERVER_TLS_KEY");

  public static final Setting<Optional<Path>> GRPC_TLS_CLIENT_CA =
      new Setting<>(
              "grpc-tls-client-ca",
              SettingKind.file(),
              "",
              "Certificates (PEM) that must have signed every gRPC client's, with --grpc-tls-cert.")
          .orEnvironment("GRPC_CLIENT_TLS_CACERT");

  private final String name;
  private final SettingKind<T> kind;
  private final String defaultText;
  private final String description;
  private String orEnvironment = NO_SUCH_VARIABLE;

  private Setting(String name, SettingKind<T> kind, String defaultText, String description) {
    this.name = name;
    this.kind = kind;
    this.defaultText = defaultText;
    this.description = description;
    ALL.add(this);
  }

  private Setting<T> orEnvironment(String variable) {
    orEnvironment = variable;
    return this;
  }

  /** Returns every setting, in the order in which help shows them. */
  public static List<Setting<?>> all() {
    return Collections.unmodifiableList(ALL);
  }

  /** Returns the name, as in a settings file: {@code grpc-port}. */
  public String name() {
    return name;
  }

  /** Returns the flag on the command line: {@code --grpc-port}. */
  public String flag() {
    return "--" + name;
  }

  /** Returns the environment variable: {@code WEIR_GRPC_PORT}. */
  public String variable() {
    return "WEIR_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /**
   * Returns the variable of envoyproxy/ratelimit that is read where {@link #variable} is not set,
   * or an empty text.
   */
  public String fallbackVariable() {
    return orEnvironment;
  }

  /** Returns what stands for the value in a help text: {@code N}; empty for a switch. */
  public String placeholder() {
    return kind.placeholder();
  }

  /** Returns whether the flag may stand alone, meaning true. */
  public boolean isSwitch() {
    return kind.placeholder().isEmpty();
  }

  /** Returns what values are accepted, for people. */
  public String expected() {
    return kind.expected();
  }

  /** Returns the default as one would write it, empty for none. */
  public String defaultText() {
    return defaultText;
  }

  public String description() {
    return description;
  }

  SettingKind<T> kind() {
    return kind;
  }

  @Override
  public String toString() {
    return name;
  }
}
