package dev.weir.server;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.admin.AdminHandler;
import dev.weir.client.WeirClient;
import dev.weir.engine.CallerBuckets;
import dev.weir.engine.Engine;
import dev.weir.engine.KeyPolicies;
import dev.weir.engine.RoutedStore;
import dev.weir.engine.SubjectSettings;
import dev.weir.replay.DryRun;
import dev.weir.replay.DryRuns;
import dev.weir.replay.Masking;
import dev.weir.replay.RecordedTraffic;
import dev.weir.rules.Problem;
import dev.weir.server.internal.access.TokenFile;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.log.RefusalLog;
import dev.weir.server.internal.rules.Configuration;
import dev.weir.server.internal.rules.RulesInForce;
import dev.weir.server.internal.state.StateFolder;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Settings;
import dev.weir.server.settings.StartException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The construction of a server from its parts: the store, the engine, the rules, their followers,
 * the ports.
 */
final class Assembly {
  /** The fraction of the memory for keys that CL.THROTTLE gets if its table is in this process. */
  private static final long THROTTLE_SHARE = 4;

  /** The part of the drain timeout in which the last refusals of queues are sent. */
  private static final Duration LAST_REFUSALS = Duration.ofMillis(500);

  /** Time for the ports to close, in addition to the time for requests in flight. */
  private static final Duration CLOSE_DOORS = Duration.ofSeconds(3);

  private static final Duration CLOSE_RULES = Duration.ofSeconds(2);
  private static final Duration CLOSE_HOUSEKEEPING = Duration.ofSeconds(1);
  private static final Duration SAVE_STATE = Duration.ofSeconds(20);
  private static final Duration CLOSE_TELEMETRY = Duration.ofSeconds(2);
  private static final Duration CLOSE_HISTORY = Duration.ofSeconds(1);
  private static final Duration CLOSE_UPSTREAM = Duration.ofSeconds(2);
  private static final Duration CLOSE_STORE = Duration.ofSeconds(3);
  private static final Duration CLOSE_CONFIGURATION = Duration.ofSeconds(2);
  private static final Duration CLOSE_FOLDER = Duration.ofSeconds(1);

  private Assembly() {}

  /**
   * Starts a server with a shared store, or with none; it closes the store when it is closed.
   *
   * @param begun receives the server before it decides
   */
  static WeirServer start(
      ServerSettings settings,
      @Nullable SharedStore shared,
      Administration administration,
      Consumer<WeirServer> begun)
      throws StartException, InterruptedException {
    Parts parts = new Parts();
    try {
      return assemble(parts, settings, shared, administration, begun);
    } catch (StartException | InterruptedException | RuntimeException | Error e) {
      parts.abandon();
      throw e;
    }
  }

  private static WeirServer assemble(
      Parts parts,
      ServerSettings settings,
      @Nullable SharedStore shared,
      Administration administration,
      Consumer<WeirServer> begun)
      throws StartException, InterruptedException {
    // The engine closes its store, once there is one.
    AtomicReference<Runnable> closeStore =
        new AtomicReference<>(shared == null ? () -> {} : shared.store()::close);
    parts.add("store", CLOSE_STORE, () -> Objects.requireNonNull(closeStore.get()).run());
    StateFolder state = StateFolder.open(settings);
    if (state != null) {
      parts.add("state folder", CLOSE_FOLDER, state::close);
    }
    Ticker ticker = state == null ? Ticker.system() : state.ticker();
    Configuration configuration = Configuration.open(settings, ticker);
    if (configuration != null) {
      parts.add("configuration", CLOSE_CONFIGURATION, configuration::close);
    }
    long maxBytes = settings.value(Settings.MAX_MEMORY);
    boolean ownThrottle =
        settings.value(Settings.RESP_PORT).isPresent() && !settings.sharesThrottle(shared != null);
    long throttleBytes = ownThrottle ? maxBytes / THROTTLE_SHARE : 0;
    MemoryStore memory =
        table(
            state,
            StateFolder.RULES,
            shared == null ? "its own" : shared.keys(),
            settings.value(Settings.MAX_KEYS),
            maxBytes - throttleBytes);
    RoutedStore store =
        shared == null ? RoutedStore.local(memory) : RoutedStore.of(memory, shared.store());
    SystemLoad load = SystemLoad.of(settings, ticker);
    Engine engine =
        Engine.builder(store).ticker(ticker).settings(settings.engine()).load(load).subjects(configuration == null ? KeyPolicies.NONE : configuration.policies(), configuration == null ? SubjectSettings.DEFAULTS : configuration.subjects()).build();
    closeStore.set(engine::close);
    if (configuration != null) {
      configuration.decidesBy(engine);
    }
    Outward outward = Outward.start(settings, engine);
    if (outward.sends()) {
      parts.add("telemetry", CLOSE_TELEMETRY, outward::close);
    }
    WeirClient upstream = Upstream.open(settings);
    if (upstream != null) {
      parts.add("upstream", CLOSE_UPSTREAM, upstream::close);
    }
    boolean records =
        configuration != null
            && settings.value(Settings.ADMIN_PORT).isPresent()
            && settings.value(Settings.RECORD_TRAFFIC);
    RecordedTraffic traffic =
        records ? new RecordedTraffic(ticker, settings.value(Settings.RECORD_MEMORY)) : null;
    Observation observation = null;
    AdminHandler admin = null;
    if (configuration != null && settings.value(Settings.ADMIN_PORT).isPresent()) {
      observation = Observation.open(settings, engine, configuration, ticker);
      parts.add("history", CLOSE_HISTORY, observation::close);
      admin =
          administration.handler(
              configuration.store(),
              engine,
              settings,
              ticker,
              new Administration.Known(observation.observed(), recorded(traffic, configuration)));
    }
    TokenFile tokenFile = TokenFile.of(settings);
    MemoryStore throttle =
        shared != null && settings.sharesThrottle(true)
            ? null
            : table(
                state,
                StateFolder.THROTTLE,
                "its own",
                settings.value(Settings.THROTTLE_MAX_KEYS),
                Math.max(1, throttleBytes));
    Store buckets = throttle == null ? Objects.requireNonNull(shared).store() : throttle;
    Behind behind =
        new Behind(
            engine,
            load,
            shared,
            new CallerBuckets(buckets, ticker.nanos()),
            tokenFile == null ? Tokens.notRequired() : tokenFile.tokens(),
            configuration,
            admin,
            upstream,
            traffic,
            RefusalLog.of(settings, ticker),
            outward.tracing(),
            observation);
    if (state != null) {
      // A start that fails with open ports may have decided something: that is saved too.
      parts.add("state", () -> SAVE_STATE, () -> save(state, parts.left()), state::end);
    }
    Housekeeping housekeeping = new Housekeeping(behind, throttle, tokenFile, ticker);
    parts.add("housekeeping", CLOSE_HOUSEKEEPING, housekeeping::end);
    RulesInForce rules = new RulesInForce(settings, engine, configuration);
    parts.add("rules", CLOSE_RULES, rules::close);
    List<Problem> missing = rules.begin();
    if (!settings.value(Settings.NO_WARMUP)) {
      Logs.LOG.info(WarmUp.run(ticker));
    }
    if (state != null) {
      state.begin();
    }
    Doors doors = Doors.open(settings, behind, ticker);
    parts.add(
        "ports",
        () -> doors.drainTimeout().plus(CLOSE_DOORS),
        () -> doors.close(doors.drainTimeout()),
        () -> closeAtOnce(doors));
    parts.add("queues", LAST_REFUSALS, () -> engine.endQueues(queueTime(doors)));
    if (configuration != null && admin != null) {
      configuration.adminAt(settings, doors.adminPort());
    }
    WeirServer server = new WeirServer(settings, behind, rules, housekeeping, doors, parts);
    outward.metrics(doors.metrics());
    begun.accept(server);
    server.begin(missing);
    return server;
  }

  /** Saves the counts, unless something may still be deciding. */
  private static void save(StateFolder state, List<String> left) {
    if (left.isEmpty()) {
      state.end();
    } else {
      Logs.LOG.severe("state: not saved, since parts did not end: the next start is after a crash");
    }
  }

  /** Returns the time in which requests that wait in queues can still have their turn. */
  private static Duration queueTime(Doors doors) {
    Duration most = doors.drainTimeout().minus(LAST_REFUSALS);
    return most.isNegative() ? Duration.ZERO : most;
  }

  private static void closeAtOnce(Doors doors) {
    try {
      doors.close(Duration.ZERO);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Administration.@Nullable Recorded recorded(
      @Nullable RecordedTraffic traffic, Configuration configuration) {
    return traffic == null
        ? null
        : new Administration.Recorded(
            new DryRuns(traffic, Masking.random(), DryRun.Limits.DEFAULTS),
            configuration.policies());
  }

  private static MemoryStore table(
      @Nullable StateFolder state, String name, String keys, long maxKeys, long maxBytes)
      throws StartException {
    return state == null
        ? new MemoryStore(maxKeys, maxBytes)
        : state.table(name, keys, maxKeys, maxBytes);
  }
}
