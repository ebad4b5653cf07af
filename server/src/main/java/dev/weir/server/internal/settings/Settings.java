package dev.weir.server.internal.settings;

import dev.weir.AfterCrash;
import dev.weir.FailureMode;
import dev.weir.MemoryStore;
import dev.weir.StateDurability;
import dev.weir.admin.ShowKeys;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.holds.HoldSettings;
import dev.weir.protocol.http.OlderFields;
import dev.weir.protocol.http.RetryFields;
import dev.weir.shared.ClusterMember;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** The table of all settings of the server, in the order of help texts. */
public final class Settings {
  /*
   * Why by hand, and not by a library for configuration? An error must name every problem of all
   * sources at once, each with the flag, the variable or the file, line and column that it comes
   * from, the given value (without passwords) and the expected one. Libraries that bind
   * configuration to objects stop at the first problem, or name the key but not its place. The
   * precedence is unusual, too: flag, environment, file, and below the file the variables of
   * envoyproxy/ratelimit, so that a deployment of that service can be taken over unchanged. One
   * table gives the flags of 'weir serve', the help text and the page in docs/; a test compares
   * them. Little is left to write: this table, SettingKind (values), SettingsFile (places in YAML),
   * ServerSettings (precedence), and the checks of settings against each other (PortChecks,
   * StoreChecks, ConfigChecks, UpstreamChecks, ClusterChecks).
   *
   * The table is long, but one unit: help shows it in this order, and names are found only here.
   * Its parts, from top to bottom: rules and counts of this server; the configuration store and the
   * port for administration; ports for requests; the shared store, the cluster, the upstream
   * server, and the answers without them; load; answers; logs and telemetry; bounds; times; tokens
   * and TLS.
   */

  /** The list comes before all settings, which add themselves to it. */
  private static final List<Setting<?>> ALL = new ArrayList<>();

  private Settings() {}

  /** A file with other settings. */
  public static final Setting<Optional<Path>> CONFIG =
      setting(
          "config", SettingKind.file(), "", "YAML file of settings: one \"name: value\" per line.");

  /** Rule files and folders; none means the built-in demo rules. */
  public static final Setting<List<Path>> RULES =
      setting(
          "rules",
          SettingKind.files(),
          "",
          "Rule files or folders of them, reloaded when they change. Without: those of the"
              + " configuration store, or else built-in demo rules.");

  /** The folder of the embedded configuration store; empty if there is none. */
  public static final Setting<Optional<Path>> DATA_DIR =
      setting(
          "data-dir",
          SettingKind.folder(),
          "",
          "Folder of this server's own configuration store: rules, customers' limits and tokens.");

  /**
   * The folder of the saved counts; empty if none was named: with {@link #DATA_DIR} there is one
   * all the same.
   */
  public static final Setting<Optional<Path>> STATE_DIR =
      setting(
          "state-dir",
          SettingKind.folder(),
          "",
          "Folder that keeps the counts over restarts. Default: state in --data-dir; without that,"
              + " counts are forgotten when the server ends.");

  public static final Setting<Boolean> NO_STATE =
      setting(
          "no-state",
          SettingKind.onOff(),
          "false",
          "Forget all counts when the server ends, also with --data-dir.");

  public static final Setting<StateDurability> STATE_DURABILITY =
      setting(
          "state-durability",
          SettingKind.choice(StateDurability.class),
          "process",
          "What the counts outlive, beside an orderly end. process: the death of the process"
              + " (kill -9, no memory), by a journal. machine: the end of the machine too (no"
              + " power), since answers wait until the journal is on the disk. none: nothing.");

  public static final Setting<AfterCrash> STATE_AFTER_CRASH =
      setting(
          "state-after-crash",
          SettingKind.choice(AfterCrash.class),
          "deny",
          "After an end that the counts have not outlived, what was admitted last is not known."
              + " deny: refuse keys until their windows have passed. amnesty: go on with the last"
              + " state that is known, and admit again what came after it.");

  public static final Setting<Duration> STATE_INTERVAL =
      setting(
          "state-interval",
          SettingKind.duration(Duration.ofSeconds(1), Duration.ofHours(1)),
          "10s",
          "With --state-durability none and --state-after-crash amnesty: time between two images"
              + " of the counts.");

  /** The shared configuration store; empty if there is none besides this process. */
  public static final Setting<Optional<String>> CONFIG_STORE =
      setting(
          "config-store",
          SettingKind.configStore(),
          "",
          "Configuration store that servers share, instead of --data-dir.");

  public static final Setting<Optional<Path>> CONFIG_STORE_PASSWORD_FILE =
      setting(
          "config-store-password-file",
          SettingKind.file(),
          "",
          "File with the password of the configuration store's user.");

  /**
   * The file of the rules last known; empty if none was named: with {@link #DATA_DIR} there is one
   * all the same.
   */
  public static final Setting<Optional<Path>> CONFIG_LAST_KNOWN =
      setting(
          "config-last-known",
          SettingKind.file(),
          "",
          "File for the rules last in force, and one beside it for customers' limits, to start with"
              + " while the configuration store does not answer. Default: last-known in --data-dir;"
              + " none with --config-store.");

  /** The longest age of the rules last known; empty if it is not bounded. */
  public static final Setting<Optional<Duration>> CONFIG_MAX_STALE =
      setting(
          "config-max-stale",
          SettingKind.durationOrNone(Duration.ofSeconds(10), Duration.ofDays(366)),
          "",
          "How long known limits of customers count while the configuration store does not answer."
              + " Default: for ever.");

  public static final Setting<Duration> LIMITS_TIMEOUT =
      setting(
          "limits-timeout",
          SettingKind.duration(Duration.ofMillis(1), Duration.ofSeconds(10)),
          "50ms",
          "Longest wait for a customer's limits; after it the rule's on_failure answers.");

  public static final Setting<Long> LIMITS_CACHE =
      setting(
          "limits-cache",
          SettingKind.memory(),
          "64m",
          "Memory for customers' limits that were read, as a size or a share of the heap.");

  /**
   * The server's name in the list of servers; empty if it follows from the machine's name and the
   * port.
   */
  public static final Setting<Optional<String>> NODE_NAME =
      setting(
          "node-name",
          SettingKind.nodeName(),
          "",
          "Name of this server among those of the configuration store, which must differ from all"
              + " others. Default: the machine's name and the HTTP port.");

  public static final Setting<Optional<Integer>> ADMIN_PORT =
      setting(
          "admin-port",
          SettingKind.portOrOff(),
          "off",
          "Port for administration, for example 8090; 0 takes a free one, off opens none.");

  public static final Setting<String> ADMIN_HOST =
      setting(
          "admin-host",
          SettingKind.host(),
          "127.0.0.1",
          "Address that the port for administration listens on.");

  /**
   * The hosts by which clients may address the administration, besides those of this machine and
   * {@link #ADMIN_HOST}.
   */
  public static final Setting<List<String>> ADMIN_HOSTS =
      setting(
          "admin-hosts",
          SettingKind.hostNames(),
          "",
          "Names by which clients may ask the port for administration, beside localhost and"
              + " --admin-host.");

  public static final Setting<Boolean> NO_RESET =
      setting(
          "no-reset",
          SettingKind.onOff(),
          "false",
          "Refuse to reset keys through the port for administration.");

  /** True if requests are kept in memory for an hour, for dry runs. */
  public static final Setting<Boolean> RECORD_TRAFFIC =
      setting(
          "record-traffic",
          SettingKind.hourOrOff(),
          "off",
          "Keep the requests of the last hour in memory, to try changes on them: 1h or off.");

  public static final Setting<Long> RECORD_MEMORY =
      setting(
          "record-memory",
          SettingKind.memory(),
          "64m",
          "Memory for recorded requests; where they do not fit, those of fewer keys are kept.");

  public static final Setting<ShowKeys> SHOW_KEYS =
      setting(
          "show-keys",
          SettingKind.choice(ShowKeys.class),
          "masked",
          "How the dashboard shows the values of keys: masked as al…e·3f9c, hashed, or"
              + " plain.");

  public static final Setting<Boolean> NO_HOT_KEYS =
      setting(
          "no-hot-keys",
          SettingKind.onOff(),
          "false",
          "Do not count which keys are busiest and most refused, for the dashboard.");

  public static final Setting<String> HOST =
      setting(
          "host",
          SettingKind.host(),
          "127.0.0.1",
          "Address that all ports listen on but that for administration.");

  public static final Setting<Optional<Integer>> PORT =
      setting(
          "port",
          SettingKind.portOrOff(),
          "8080",
          "Port for HTTP; 0 takes a free one, off opens none.",
          "PORT");

  public static final Setting<Optional<Integer>> GRPC_PORT =
      setting(
          "grpc-port",
          SettingKind.portOrOff(),
          "8081",
          "Port for gRPC; 0 takes a free one, off opens none.",
          "GRPC_PORT");

  public static final Setting<Optional<Integer>> RESP_PORT =
      setting(
          "resp-port",
          SettingKind.portOrOff(),
          "6380",
          "Port for Redis clients; 0 takes a free one, off opens none.");

  /** The shared store; empty if each server counts for itself. */
  public static final Setting<Optional<StoreUri>> STORE =
      setting(
          "store",
          SettingKind.store(),
          "local",
          "Where limits are counted: local is this process; a URI names a Redis or Valkey"
              + " that servers share, or members of a cluster.");

  public static final Setting<Optional<Path>> STORE_PASSWORD_FILE =
      setting(
          "store-password-file",
          SettingKind.file(),
          "",
          "File with the store's password, instead of a password in --store.");

  public static final Setting<String> STORE_PREFIX =
      setting(
          "store-prefix",
          SettingKind.storePrefix(),
          "weir",
          "Prefix of all keys in the store; servers that share limits must use the same.");

  public static final Setting<Duration> STORE_TIMEOUT =
      setting(
          "store-timeout",
          SettingKind.duration(Duration.ofMillis(1), Duration.ofMinutes(1)),
          "100ms",
          "Longest wait for the store's decision; after it the rule's on_failure answers.");

  public static final Setting<Integer> STORE_REPLICAS =
      setting(
          "store-replicas",
          SettingKind.number(0, 16),
          "0",
          "Number of Redis replicas that must confirm a decision before it is answered.");

  public static final Setting<AfterCrash> STORE_AFTER_CRASH =
      setting(
          "store-after-crash",
          SettingKind.choice(AfterCrash.class),
          "deny",
          "After Redis has lost counts (restarted without its data, flushed, an empty replica)."
              + " deny: refuse keys until their windows have passed since then. amnesty: count"
              + " from zero.");

  /** The members of the cluster; empty if this server is not a member. */
  public static final Setting<List<ClusterMember>> CLUSTER =
      setting(
          "cluster",
          SettingKind.members(),
          "",
          "Members that form a cluster, which counts limits together, the same at each of them; or"
              + " some members of a cluster that is there, for one that joins it. A name is the"
              + " host if it is not given. dns:NAME stands for the members at all addresses of a"
              + " name in the DNS.");

  /** The number of members; 0 if {@link #CLUSTER} names the members. */
  public static final Setting<Integer> CLUSTER_SIZE =
      setting(
          "cluster-size",
          SettingKind.number(0, 9),
          "0",
          "How many members must see each other before they form a new cluster, where --cluster is"
              + " dns:NAME; 0 is the number of those that it names.");

  public static final Setting<Optional<String>> CLUSTER_NAME =
      setting(
          "cluster-name",
          SettingKind.nodeName(),
          "",
          "Which of the members this server is, or the name of one that joins. Default: the one"
              + " whose host is this machine's name.");

  public static final Setting<Optional<InetSocketAddress>> CLUSTER_LISTEN =
      setting(
          "cluster-listen",
          SettingKind.address(),
          "",
          "Where the other members reach this one, if that is not its host and port in"
              + " --cluster.");

  public static final Setting<Optional<InetSocketAddress>> CLUSTER_ADVERTISE =
      setting(
          "cluster-advertise",
          SettingKind.address(),
          "",
          "Where the others reach this member, if --cluster does not name it. Default with"
              + " dns:NAME: the host's name in NAME in Kubernetes, else this machine's address.");

  public static final Setting<Optional<String>> CLUSTER_ZONE =
      setting(
          "cluster-zone",
          SettingKind.nodeName(),
          "",
          "What fails together with this member: the replicas of a group are spread over zones.");

  public static final Setting<Optional<Path>> CLUSTER_DIR =
      setting(
          "cluster-dir",
          SettingKind.folder(),
          "",
          "Folder of this member alone, on a disk of its own: log, snapshots, identity. Default:"
              + " cluster in --data-dir.");

  public static final Setting<Integer> CLUSTER_GROUPS =
      setting(
          "cluster-groups",
          SettingKind.number(1, 64),
          "1",
          "Number of logs that keys are spread over, the same at each member, when the cluster is"
              + " formed; later, 'weir cluster groups' makes it more.");

  public static final Setting<Integer> CLUSTER_REPLICAS =
      setting(
          "cluster-replicas",
          SettingKind.number(1, 5),
          "3",
          "Number of members that have each group, where there are as many; fixed when the cluster"
              + " is formed.");

  public static final Setting<Duration> CLUSTER_ELECTION_TIMEOUT =
      setting(
          "cluster-election-timeout",
          SettingKind.duration(Duration.ofMillis(100), Duration.ofMinutes(1)),
          "1s",
          "How long members wait for a silent leader before they elect another; twice as long at"
              + " most.");

  public static final Setting<Integer> CLUSTER_LEVEL_MAX =
      setting(
          "cluster-level-max",
          SettingKind.number(0, ClusterMember.MOST_LEVEL),
          "0",
          "The cluster stays at that level or below, so that an older version of Weir can be"
              + " started again; 0 for the highest that this version understands.");

  public static final Setting<Duration> CLUSTER_MAX_SKEW =
      setting(
          "cluster-max-skew",
          SettingKind.duration(Duration.ofMillis(50), Duration.ofHours(1)),
          "1s",
          "How far a leader's wall clock may be off the calendar of its group and be followed by"
              + " it.");

  public static final Setting<Optional<Path>> CLUSTER_TLS_CERT =
      setting(
          "cluster-tls-cert",
          SettingKind.file(),
          "",
          "Certificate (PEM) that this member shows to the others; its name is the member's.");

  public static final Setting<Optional<Path>> CLUSTER_TLS_KEY =
      setting(
          "cluster-tls-key",
          SettingKind.file(),
          "",
          "Private key (PEM, PKCS #8) for --cluster-tls-cert.");

  public static final Setting<Optional<Path>> CLUSTER_TLS_CA =
      setting(
          "cluster-tls-ca",
          SettingKind.file(),
          "",
          "CA certificates (PEM) that must have signed every member's certificate.");

  public static final Setting<Boolean> CLUSTER_INSECURE =
      setting(
          "cluster-insecure",
          SettingKind.onOff(),
          "false",
          "Lets members on other machines talk without TLS: whoever reaches their ports can change"
              + " every count.");

  /** The store of CL.THROTTLE; empty if it follows from {@link #STORE}. */
  public static final Setting<Optional<ThrottleStore>> THROTTLE_STORE =
      setting(
          "throttle-store",
          SettingKind.choiceOrNone(ThrottleStore.class),
          "",
          "Where CL.THROTTLE, THROTTLE, GCRA and INCREX are counted: in the store that --store"
              + " names, or in each server by itself. Default: shared with --store, otherwise local.");

  public static final Setting<Optional<UpstreamUri>> UPSTREAM =
      setting(
          "upstream",
          SettingKind.upstream(),
          "",
          "Server whose limits this one holds for its machine: by leases, remembered denials and"
              + " calls. This server has no rules of its own then.");

  public static final Setting<Optional<Path>> UPSTREAM_TOKEN_FILE =
      setting(
          "upstream-token-file",
          SettingKind.file(),
          "",
          "File with the token that the upstream server asks for.");

  public static final Setting<Optional<Path>> UPSTREAM_TLS_CA =
      setting(
          "upstream-tls-ca",
          SettingKind.file(),
          "",
          "Certificates, in PEM, that sign the upstream server's; without it those that Java"
              + " trusts.");

  public static final Setting<Duration> UPSTREAM_TIMEOUT =
      setting(
          "upstream-timeout",
          SettingKind.duration(Duration.ofMillis(1), Duration.ofMinutes(1)),
          "50ms",
          "Longest wait for the upstream server's decision; after it the rule's on_failure"
              + " answers, as it last said.");

  public static final Setting<FailureMode> ON_FAILURE =
      setting(
          "on-failure",
          SettingKind.choice(FailureMode.class),
          "deny",
          "What rules without on_failure answer while the store cannot decide.");

  /** The local share; empty if it is not set. */
  public static final Setting<Optional<Double>> LOCAL_SHARE =
      setting(
          "local-share",
          SettingKind.share(),
          "",
          "With --on-failure local: share of each limit that this server may admit while"
              + " the store cannot decide.");

  public static final Setting<LoadSource> LOAD_SIGNAL =
      setting(
          "load-signal",
          SettingKind.choice(LoadSource.class),
          "cpu",
          "Where elastic rules get the load from: processors, requests in flight, or"
              + " values posted to /v1/load.");

  public static final Setting<Integer> LOAD_IN_FLIGHT =
      setting(
          "load-in-flight",
          SettingKind.number(1, 1_000_000),
          "100",
          "With --load-signal in-flight: number of in-flight requests that counts as 100"
              + " % load.");

  public static final Setting<Duration> LOAD_KEEP =
      setting(
          "load-keep",
          SettingKind.duration(Duration.ofSeconds(1), Duration.ofHours(1)),
          "10s",
          "Load readings older than this are ignored; elastic rules are then enforced.");

  public static final Setting<Boolean> SHADOW_MODE =
      setting(
          "shadow-mode",
          SettingKind.onOff(),
          "false",
          "Let every request pass; the status of each descriptor still shows what the"
              + " rules would have refused.",
          "SHADOW_MODE");

  /** The ratio in percent. */
  public static final Setting<Integer> NEAR_LIMIT_RATIO =
      setting(
          "near-limit-ratio",
          SettingKind.percent(),
          "0.8",
          "Share of a limit from which permits count as near the limit in the metrics.",
          "NEAR_LIMIT_RATIO");

  public static final Setting<Boolean> DYNAMIC_METADATA =
      setting(
          "dynamic-metadata",
          SettingKind.onOff(),
          "false",
          "Tell Envoy, in each answer, the request and the metadata of the rules that it passed.",
          "RESPONSE_DYNAMIC_METADATA");

  public static final Setting<Boolean> RESPONSE_HEADERS =
      setting(
          "response-headers",
          SettingKind.onOff(),
          "false",
          "Let Envoy add the three headers below to its responses.",
          "LIMIT_RESPONSE_HEADERS_ENABLED");

  public static final Setting<String> LIMIT_HEADER =
      setting(
          "limit-header",
          SettingKind.headerName(),
          "RateLimit-Limit",
          "Name of the header with the limit.",
          "LIMIT_LIMIT_HEADER");

  public static final Setting<String> REMAINING_HEADER =
      setting(
          "remaining-header",
          SettingKind.headerName(),
          "RateLimit-Remaining",
          "Name of the header with the remaining permits.",
          "LIMIT_REMAINING_HEADER");

  public static final Setting<String> RESET_HEADER =
      setting(
          "reset-header",
          SettingKind.headerName(),
          "RateLimit-Reset",
          "Name of the header with the seconds until more permits are available.",
          "LIMIT_RESET_HEADER");

  public static final Setting<OlderFields> OLDER_FIELDS =
      setting(
          "older-fields",
          SettingKind.choice(OlderFields.class),
          "none",
          "Older header fields that /v1/check sends in addition to RateLimit and"
              + " RateLimit-Policy. openai: those of services of language models, and refusals in"
              + " the form that their clients read.");

  public static final Setting<Duration> MAX_RETRY_AFTER =
      setting(
          "max-retry-after",
          SettingKind.duration(Duration.ZERO, RetryFields.LARGEST_BOUND),
          "0s",
          "Longest Retry-After that /v1/check sends; longer refusals have it, and x-should-retry:"
              + " false. 0 means no bound.");

  public static final Setting<Duration> RETRY_JITTER =
      setting(
          "retry-jitter",
          SettingKind.duration(Duration.ZERO, RetryFields.LARGEST_JITTER),
          "0s",
          "Longest random part, in whole seconds, that /v1/check adds to Retry-After, so that"
              + " clients do not come back all at once.");

  public static final Setting<LogLevel> LOG_LEVEL =
      setting(
          "log-level",
          SettingKind.choice(LogLevel.class),
          "info",
          "Least severe" + " level that is logged.",
          "LOG_LEVEL");

  public static final Setting<LogFormat> LOG_FORMAT =
      setting(
          "log-format",
          SettingKind.choice(LogFormat.class),
          "text",
          "Format of log lines; they go to standard error.",
          "LOG_FORMAT");

  /** The share of refusals that are logged, in millionths; 0 for none. */
  public static final Setting<Long> LOG_REFUSALS =
      setting(
          "log-refusals",
          SettingKind.millionths(),
          "0",
          "Share of the refused requests that are logged, at most 10 lines per second.");

  public static final Setting<ShownKeys> LOG_REFUSALS_KEYS =
      setting(
          "log-refusals-keys",
          SettingKind.choice(ShownKeys.class),
          "masked",
          "How --log-refusals writes the values of descriptors.");

  /** The address of the collector; empty if there is none. */
  public static final Setting<Optional<URI>> OTLP =
      setting(
          "otlp",
          SettingKind.http(),
          "",
          "OpenTelemetry collector that gets metrics, and spans of requests whose callers trace"
              + " them, by OTLP over HTTP. The variables OTEL_* have the details.",
          "OTEL_EXPORTER_OTLP_ENDPOINT");

  /** The address of the statsd server; empty if there is none. */
  public static final Setting<Optional<InetSocketAddress>> STATSD =
      setting(
          "statsd",
          SettingKind.address(),
          "",
          "statsd server that gets the counters of rules once a second, by UDP, under the names"
              + " that envoyproxy/ratelimit has.");

  /**
   * The most bytes of a body: rules, descriptors and keys of the largest sensible request fit many
   * times over.
   */
  public static final Setting<Integer> MAX_BODY_BYTES =
      setting(
          "max-body-bytes",
          SettingKind.number(1_024, 64 << 20),
          Integer.toString(1 << 20),
          "Most bytes of one request, on any port.");

  public static final Setting<Integer> MAX_DESCRIPTORS =
      setting(
          "max-descriptors",
          SettingKind.number(1, 65_536),
          Integer.toString(EngineSettings.DEFAULTS.maxDescriptors()),
          "Most descriptors of one request.");

  public static final Setting<Integer> MAX_ENTRIES =
      setting(
          "max-entries",
          SettingKind.number(1, 1_024),
          Integer.toString(EngineSettings.DEFAULTS.maxEntries()),
          "Most entries of one descriptor.");

  public static final Setting<Integer> MAX_KEY_LENGTH =
      setting(
          "max-key-length",
          SettingKind.number(1, 1 << 20),
          Integer.toString(EngineSettings.DEFAULTS.maxKeyLength()),
          "Most characters of a domain, a key or a value.");

  public static final Setting<Integer> MAX_QUEUED =
      setting(
          "max-queued",
          SettingKind.number(0, 1 << 20),
          Integer.toString(EngineSettings.DEFAULTS.maxWaiting()),
          "Most requests that wait for their turn at a time, where rules say so by on_limit.");

  /**
   * The most leases: those of a thousand clients with a hundred busy keys each fit; 30 MB at most.
   */
  public static final Setting<Integer> MAX_LEASES =
      setting(
          "max-leases",
          SettingKind.number(0, EngineSettings.MAX_LEASES),
          "100000",
          "Most leases and refundable requests of clients that are remembered at a time; beyond it"
              + " only what is wanted at once is granted. With 0 nothing is lent.");

  /** The most buckets of Envoys: a hundred Envoys with a thousand buckets each; 13 MB. */
  public static final Setting<Integer> MAX_QUOTA_BUCKETS =
      setting(
          "max-quota-buckets",
          SettingKind.number(0, 1 << 24),
          "100000",
          "Most buckets of Envoys that have a quota at a time; those beyond it have no"
              + " assignment.");

  public static final Setting<Long> MAX_KEYS =
      setting(
          "max-keys",
          SettingKind.count(1, 1L << 40),
          Long.toString(MemoryStore.DEFAULT_MAX_KEYS),
          "Most keys counted at once; for a new key beyond it, the rule's when_full" + " answers.");

  public static final Setting<Long> THROTTLE_MAX_KEYS =
      setting(
          "throttle-max-keys",
          SettingKind.count(1, 1L << 32),
          Long.toString(MemoryStore.DEFAULT_MAX_KEYS),
          "Most keys of CL.THROTTLE, THROTTLE, GCRA and INCREX at once, separate from --max-keys;"
              + " a new key beyond it is limited. Only with --throttle-store local.");

  public static final Setting<Long> MAX_MEMORY =
      setting(
          "max-memory",
          SettingKind.memory(),
          "50%",
          "Most memory for the state of keys, as a size or a share of the heap; with a"
              + " RESP port and --throttle-store local a quarter of it is for CL.THROTTLE.");

  public static final Setting<Long> MAX_PENDING_MEMORY =
      setting(
          "max-pending-memory",
          SettingKind.memory(),
          "10%",
          "Most memory for unfinished requests and unread answers; beyond it the"
              + " connections that hold most are closed. As much again may be taken by requests"
              + " that wait for a store or another server; those beyond it are answered"
              + " OVERLOADED.");

  public static final Setting<Integer> MAX_CONNECTIONS =
      setting(
          "max-connections",
          SettingKind.number(1, 1_000_000),
          "10000",
          "Most connections at once, on each port.");

  public static final Setting<Integer> MAX_STREAMS =
      setting(
          "max-streams",
          SettingKind.number(1, 1_000_000),
          "1000",
          "Most gRPC calls at once on one connection.");

  public static final Setting<Duration> REQUEST_TIMEOUT =
      setting(
          "request-timeout",
          SettingKind.duration(Duration.ofMillis(100), Duration.ofHours(1)),
          "5s",
          "Longest time a client may take to send a request.");

  public static final Setting<Duration> MAX_WAIT =
      setting(
          "max-wait",
          SettingKind.duration(Duration.ofMillis(10), Duration.ofHours(1)),
          "1s",
          "Longest time a request may wait on an event loop that is overloaded; then it"
              + " is answered OVERLOADED without a decision.");

  public static final Setting<Duration> IDLE_TIMEOUT =
      setting(
          "idle-timeout",
          SettingKind.duration(Duration.ofSeconds(1), Duration.ofDays(30)),
          "5m",
          "A connection without a request for this long is closed.");

  public static final Setting<Duration> MIN_KEEPALIVE =
      setting(
          "min-keepalive",
          SettingKind.duration(Duration.ZERO, Duration.ofHours(1)),
          "10s",
          "gRPC clients that send keepalive pings more often than this are disconnected.");

  public static final Setting<Duration> MAX_CONNECTION_AGE =
      setting(
          "max-connection-age",
          SettingKind.duration(Duration.ZERO, Duration.ofDays(365)),
          "0s",
          "gRPC connections older than this are asked to reconnect; 0 means never.",
          "GRPC_MAX_CONNECTION_AGE");

  public static final Setting<Duration> MAX_CONNECTION_AGE_GRACE =
      setting(
          "max-connection-age-grace",
          SettingKind.duration(Duration.ZERO, Duration.ofDays(365)),
          "1h",
          "How long calls may still run on a connection that has reached"
              + " --max-connection-age.",
          "GRPC_MAX_CONNECTION_AGE_GRACE");

  public static final Setting<Duration> DRAIN_DELAY =
      setting(
          "drain-delay",
          SettingKind.duration(Duration.ZERO, Duration.ofHours(1)),
          "0s",
          "When stopping: how long to keep answering after reporting not ready.");

  public static final Setting<Duration> DRAIN_TIMEOUT =
      setting(
          "drain-timeout",
          SettingKind.duration(Duration.ZERO, Duration.ofHours(1)),
          "10s",
          "When stopping: longest wait for requests in flight.");

  public static final Setting<Boolean> NO_WARMUP =
      setting(
          "no-warmup",
          SettingKind.onOff(),
          "false",
          "Skip the warm-up: ready at once, but the first requests are slow.");

  public static final Setting<Optional<Path>> TOKEN_FILE =
      setting(
          "token-file",
          SettingKind.file(),
          "",
          "File of tokens, one per line, reloaded when it changes; every client must send"
              + " one of them.");

  public static final Setting<Optional<Path>> HOLD_KEY_FILE =
      setting(
          "hold-key-file",
          SettingKind.file(),
          "",
          "File with the secret that signs holds, one line of at least 32 characters. A hold can be"
              + " settled at every server with the same one. Without: only at the server that"
              + " granted it, until that ends.");

  public static final Setting<Duration> HOLD_LIFE =
      setting(
          "hold-life",
          SettingKind.duration(HoldSettings.LEAST_LIFE, HoldSettings.MOST_LIFE),
          "10m",
          "Time in which a hold can be settled; then it counts as spent. The same for all servers"
              + " with the same --hold-key-file.");

  public static final Setting<Boolean> INSECURE =
      setting(
          "insecure",
          SettingKind.onOff(),
          "false",
          "Allow a non-loopback --host without tokens or client certificates: anyone who"
              + " reaches it may use up permits. Also a non-loopback --admin-host without TLS.");

  public static final Setting<Optional<Path>> TLS_CERT =
      setting(
          "tls-cert",
          SettingKind.file(),
          "",
          "Certificate chain (PEM) of all ports, reloaded when it changes; without it,"
              + " plain text.");

  public static final Setting<Optional<Path>> TLS_KEY =
      setting("tls-key", SettingKind.file(), "", "Private key (PEM, PKCS #8) of all ports.");

  public static final Setting<Optional<Path>> TLS_CLIENT_CA =
      setting(
          "tls-client-ca",
          SettingKind.file(),
          "",
          "CA certificates (PEM) that must have signed every client's certificate;"
              + " without it, no client certificate is needed.");

  public static final Setting<Optional<Path>> GRPC_TLS_CERT =
      setting(
          "grpc-tls-cert",
          SettingKind.file(),
          "",
          "Certificate chain (PEM) of the gRPC port alone, instead of --tls-cert.",
          "GRPC_SERVER_TLS_CERT");

  public static final Setting<Optional<Path>> GRPC_TLS_KEY =
      setting(
          "grpc-tls-key",
          SettingKind.file(),
          "",
          "Private key (PEM, PKCS #8) of the gRPC port.",
          "GRPC_SERVER_TLS_KEY");

  public static final Setting<Optional<Path>> GRPC_TLS_CLIENT_CA =
      setting(
          "grpc-tls-client-ca",
          SettingKind.file(),
          "",
          "CA certificates (PEM) that must have signed every gRPC client's certificate;"
              + " needs --grpc-tls-cert.",
          "GRPC_CLIENT_TLS_CACERT");

  private static <T> Setting<T> setting(
      String name, SettingKind<T> kind, String defaultText, String description) {
    return setting(name, kind, defaultText, description, Setting.NO_SUCH_VARIABLE);
  }

  private static <T> Setting<T> setting(
      String name,
      SettingKind<T> kind,
      String defaultText,
      String description,
      String envoyVariable) {
    Setting<T> setting = new Setting<>(name, kind, defaultText, description, envoyVariable);
    ALL.add(setting);
    return setting;
  }

  /** Returns all settings, in the order in which help shows them. */
  public static List<Setting<?>> all() {
    return Collections.unmodifiableList(ALL);
  }
}
