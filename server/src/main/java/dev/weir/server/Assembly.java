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
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The construction of a server from its parts: the store, the engine, the rules, their followers,
 * the ports.
 */
final class Assembly {
  /** The fraction of the memory for keys that CL.THROTTLE gets if its table is in this process. */
  private static final long THROTTLE_SHARE = 4;

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
    StateFolder state = state(settings, shared);
    Ticker ticker = state == null ? Ticker.system() : state.ticker();
    Configuration configuration = configuration(settings, shared, state, ticker);
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
        Engine.create(
            store,
            ticker,
            settings.engine(),
            store.fingerprint(),
            load,
            configuration == null ? KeyPolicies.NONE : configuration.policies(),
            configuration == null ? SubjectSettings.DEFAULTS : configuration.subjects());
    if (configuration != null) {
      configuration.decidesBy(engine);
    }
    RulesInForce rules = new RulesInForce(settings, engine, configuration);
    Outward outward = null;
    Observation observation = null;
    WeirClient upstream = null;
    try {
      outward = Outward.start(settings, engine);
      upstream = Upstream.open(settings);
      boolean records =
          configuration != null
              && settings.value(Settings.ADMIN_PORT).isPresent()
              && settings.value(Settings.RECORD_TRAFFIC);
      RecordedTraffic traffic =
          records ? new RecordedTraffic(ticker, settings.value(Settings.RECORD_MEMORY)) : null;
      AdminHandler admin = null;
      if (configuration != null && settings.value(Settings.ADMIN_PORT).isPresent()) {
        observation = Observation.open(settings, engine, configuration, ticker);
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
      List<Problem> missing = rules.begin();
      if (!settings.value(Settings.NO_WARMUP)) {
        Logs.LOG.info(WarmUp.run(ticker));
      }
      if (state != null) {
        state.begin();
      }
      Doors doors = Doors.open(settings, behind, ticker);
      if (configuration != null && admin != null) {
        configuration.adminAt(settings, doors.adminPort());
      }
      WeirServer server =
          new WeirServer(
              settings, behind, throttle, rules, tokenFile, outward, doors, state, ticker);
      outward.metrics(doors.metrics());
      begun.accept(server);
      server.begin(missing);
      return server;
    } catch (StartException | InterruptedException | RuntimeException | Error e) {
      if (observation != null) {
        observation.close();
      }
      rules.close();
      if (outward != null) {
        outward.close();
      }
      engine.close();
      if (upstream != null) {
        upstream.close();
      }
      if (configuration != null) {
        configuration.close();
      }
      if (state != null) {
        state.abandon();
      }
      throw e;
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

  private static @Nullable Configuration configuration(
      ServerSettings settings,
      @Nullable SharedStore shared,
      @Nullable StateFolder state,
      Ticker ticker)
      throws StartException {
    try {
      return Configuration.open(settings, ticker);
    } catch (StartException | RuntimeException | Error e) {
      if (shared != null) {
        shared.store().close();
      }
      if (state != null) {
        state.abandon();
      }
      throw e;
    }
  }

  private static @Nullable StateFolder state(ServerSettings settings, @Nullable SharedStore shared)
      throws StartException {
    try {
      return StateFolder.open(settings);
    } catch (StartException | RuntimeException | Error e) {
      if (shared != null) {
        shared.store().close();
      }
      throw e;
    }
  }

  private static MemoryStore table(
      @Nullable StateFolder state, String name, String keys, long maxKeys, long maxBytes)
      throws StartException {
    return state == null
        ? new MemoryStore(maxKeys, maxBytes)
        : state.table(name, keys, maxKeys, maxBytes);
  }
}
