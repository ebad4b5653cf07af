package dev.weir.server;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.engine.CallerBuckets;
import dev.weir.engine.Engine;
import dev.weir.engine.RoutedStore;
import dev.weir.rules.Problem;
import dev.weir.server.internal.access.HoldKey;
import dev.weir.server.internal.access.TokenFile;
import dev.weir.server.internal.guard.Loop;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.log.RefusalLog;
import dev.weir.server.internal.rules.Configuration;
import dev.weir.server.internal.rules.RulesInForce;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.internal.state.StateStorage;
import dev.weir.server.settings.StartException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * The construction of a server from its parts: the store, the engine, the rules, their followers,
 * the ports.
 */
final class Assembly {
  /** The fraction of the memory for keys that CL.THROTTLE gets if its table is in this process. */
  private static final long THROTTLE_SHARE = 4;

  /**
   * Time for the ports to close, in addition to the time for requests in flight. Their bounds add
   * up to 10 s: if both kinds of event loops hang, the log names the ports and no loop.
   */
  private static final Duration CLOSE_PORTS = Duration.ofSeconds(7);

  private static final Duration CLOSE_RULES = Duration.ofSeconds(2);
  private static final Duration CLOSE_HOUSEKEEPING = Duration.ofSeconds(1);

  /** Time to save small tables. */
  private static final Duration SAVE_STATE = Duration.ofSeconds(20);

  /** The bytes of tables for which a second more is allowed: less than a slow disk writes. */
  private static final long SAVED_BYTES_PER_SECOND = 32L << 20;

  private static final Duration CLOSE_TELEMETRY = Duration.ofSeconds(2);
  private static final Duration CLOSE_HISTORY = Duration.ofSeconds(1);
  private static final Duration CLOSE_UPSTREAM = Duration.ofSeconds(2);

  /** Time for the store to close, in addition to the time for its calls in flight. */
  private static final Duration CLOSE_STORE = Duration.ofSeconds(3);

  private static final Duration CLOSE_CONFIGURATION = Duration.ofSeconds(2);
  private static final Duration CLOSE_FOLDER = Duration.ofSeconds(1);

  /**
   * The time for the counts to be read before the ports open without them: clients do without a
   * server for so long, and get the answers of failure modes after that.
   */
  private static final Duration CLOSED_READING = Duration.ofSeconds(1);

  private static final String STORE = "store";

  private final ServerSettings settings;
  private final StoreConnection shared;
  private final Administration administration;
  private final Executor reader;
  private final Parts parts = new Parts();

  private Assembly(
      ServerSettings settings,
      StoreConnection shared,
      Administration administration,
      Executor reader) {
    this.settings = settings;
    this.shared = shared;
    this.administration = administration;
    this.reader = reader;
  }

  /**
   * Starts a server; it closes the shared store when it is closed.
   *
   * @param reader reads the counts that are kept over restarts
   * @param begun receives the server before it decides
   */
  static WeirServer start(
      ServerSettings settings,
      StoreConnection shared,
      Administration administration,
      Executor reader,
      Consumer<WeirServer> begun)
      throws StartException, InterruptedException {
    Assembly assembly = new Assembly(settings, shared, administration, reader);
    try {
      return assembly.assemble(begun);
    } catch (StartException | InterruptedException | RuntimeException | Error e) {
      assembly.parts.abandon();
      throw e;
    }
  }

  /*
   * The parts stop in the reverse of the order in which they are added here:
   *
   *   ports          take no more requests, wait for those in flight, end their threads
   *   rules          no further changes of rules
   *   housekeeping   no further rounds
   *   counts         saved, unless a part above is left behind
   *   history        the counters of the dashboard
   *   upstream       leases go back to the upstream server
   *   telemetry      the last metrics are sent
   *   configuration  the store of rules and limits
   *   state lock     another process can use the folder of the counts
   *   store          look-ups and queues of the engine, then its stores; a member of a cluster hands
   *                  over the groups that it leads
   *
   * The essay in WeirServer has the reasons.
   */
  private WeirServer assemble(Consumer<WeirServer> begun)
      throws StartException, InterruptedException {
    parts.add(STORE, closeStore(), shared::close);
    StateStorage state = StateStorage.open(settings, reader);
    if (state.keeps()) {
      parts.add("state lock", CLOSE_FOLDER, state::close);
    }
    Ticker ticker = state.ticker();
    Configuration configuration = Configuration.open(settings, ticker);
    if (configuration.stored().isPresent()) {
      parts.add("configuration", CLOSE_CONFIGURATION, configuration::close);
    }
    Tables tables = tables(state);
    SystemLoad load = SystemLoad.of(settings, ticker);
    Engine engine =
        Engine.builder(tables.store())
            .ticker(ticker)
            .settings(settings.engine())
            .load(load)
            .subjects(configuration.policies(), configuration.subjects())
            .holds(HoldKey.of(settings))
            .build();
    parts.replaceStop(STORE, engine::close); // An engine closes its store.
    configuration.decidesBy(engine);
    DataSenders senders = DataSenders.start(settings, engine);
    if (senders.exist()) {
      parts.add("telemetry", CLOSE_TELEMETRY, senders::close);
    }
    Upstream upstream = Upstream.open(settings);
    if (upstream.client().isPresent()) {
      parts.add("upstream", CLOSE_UPSTREAM, upstream::close);
    }
    AdminParts admin = AdminParts.open(settings, engine, configuration, administration, ticker);
    admin.observation().ifPresent(kept -> parts.add("history", CLOSE_HISTORY, kept::close));
    TokenFile tokens = TokenFile.of(settings);
    ServerParts serverParts =
        ServerParts.builder(engine, load, new CallerBuckets(tables.buckets(), ticker.nanos()))
            .shared(shared)
            .state(state)
            .tokens(tokens.tokens())
            .configuration(configuration)
            .admin(admin)
            .upstream(upstream)
            .refusals(RefusalLog.of(settings, ticker))
            .tracing(senders.tracing())
            .build();
    if (state.keeps()) {
      // A start that fails with open ports may have decided something: that is saved too.
      parts.add("counts", () -> saveTime(state), () -> save(state), () -> save(state));
    }
    state.begin();
    PeriodicWork housekeeping = housekeeping(serverParts, tables, tokens, ticker);
    parts.add("housekeeping", CLOSE_HOUSEKEEPING, housekeeping::end);
    RulesInForce rules = new RulesInForce(settings, engine, configuration);
    parts.add("rules", CLOSE_RULES, rules::close);
    List<Problem> missing = rules.begin();
    if (!settings.value(Settings.NO_WARMUP)) {
      Logs.LOG.info(WarmUp.run(ticker));
    }
    boolean unused = state.awaitBegun(CLOSED_READING);
    OpenPorts ports = OpenPorts.of(settings, serverParts, ticker);
    parts.add(
        "ports",
        () -> ports.drainTimeout().plus(CLOSE_PORTS),
        () -> ports.close(ports.drainTimeout()),
        () -> ports.close(Duration.ZERO));
    ports.open();
    housekeeping.watchFiles(Loop.CERTIFICATES, ports::refresh);
    if (admin.handler().isPresent()) {
      configuration.adminAt(settings, ports.adminPort());
    }
    WeirServer server = new WeirServer(settings, serverParts, rules, housekeeping, ports, parts);
    senders.metrics(ports.metrics());
    begun.accept(server);
    server.begin(missing);
    return server;
  }

  /**
   * The stores of a server.
   *
   * @param store that of the rules
   * @param throttle the table for CL.THROTTLE; empty if its buckets are in the shared store
   * @param buckets the store of the buckets of CL.THROTTLE
   */
  private record Tables(RoutedStore store, Optional<MemoryStore> throttle, Store buckets) {}

  private Tables tables(StateStorage state) throws StartException {
    Optional<Store> remote = shared.store();
    long maxBytes = settings.value(Settings.MAX_MEMORY);
    boolean ownThrottle =
        settings.value(Settings.RESP_PORT).isPresent()
            && !settings.sharesThrottle(remote.isPresent());
    long throttleBytes = ownThrottle ? maxBytes / THROTTLE_SHARE : 0;
    Store memory =
        state.answering(
            state.table(
                StateStorage.RULES,
                shared.keys(),
                settings.value(Settings.MAX_KEYS),
                maxBytes - throttleBytes));
    RoutedStore store =
        remote
            .map(other -> RoutedStore.of(memory, other))
            .orElseGet(() -> RoutedStore.local(memory));
    if (remote.isPresent() && settings.sharesThrottle(true)) {
      return new Tables(store, Optional.empty(), remote.get());
    }
    MemoryStore throttle =
        state.table(
            StateStorage.THROTTLE,
            StoreConnection.NONE.keys(),
            settings.value(Settings.THROTTLE_MAX_KEYS),
            Math.max(1, throttleBytes));
    return new Tables(store, Optional.of(throttle), state.answering(throttle));
  }

  private PeriodicWork housekeeping(
      ServerParts serverParts, Tables tables, TokenFile tokens, Ticker ticker) {
    Engine engine = serverParts.engine();
    PeriodicWork housekeeping = new PeriodicWork(serverParts.load());
    housekeeping.eachSecond(Loop.EXPIRY, engine::expire);
    housekeeping.watchFullness(
        new FullnessWarning("the key space", "--max-keys, --max-memory, max_keys"),
        engine::fullPercent);
    if (tables.throttle().isPresent()) {
      MemoryStore throttle = tables.throttle().get();
      housekeeping.eachSecond(Loop.EXPIRY, () -> throttle.expire(ticker.nanos()));
      housekeeping.watchFullness(
          new FullnessWarning("the key space of CL.THROTTLE", "--throttle-max-keys, --max-memory"),
          throttle::fullPercent);
    }
    serverParts
        .admin()
        .traffic()
        .ifPresent(traffic -> housekeeping.eachSecond(Loop.EXPIRY, traffic::expire));
    if (shared.store().isPresent()) {
      housekeeping.eachSecond(Loop.STORE, () -> shared.check(engine.rules()));
    }
    housekeeping.watchFiles(Loop.TOKENS, tokens::refresh);
    return housekeeping;
  }

  /** Returns the time for the store: one that is shared first waits for its calls in flight. */
  private Duration closeStore() {
    return shared.store().isPresent()
        ? CLOSE_STORE.plus(settings.value(Settings.STORE_TIMEOUT))
        : CLOSE_STORE;
  }

  private static Duration saveTime(StateStorage state) {
    return SAVE_STATE.plusSeconds(state.bytes() / SAVED_BYTES_PER_SECOND);
  }

  /** Saves the counts, unless something may still be deciding. */
  private void save(StateStorage state) throws IOException {
    if (!parts.left().isEmpty()) {
      throw new IOException(
          "not saved, because "
              + String.join(", ", parts.left())
              + " may still decide: the next start is one after "
              + (state.isComplete() ? "the death of the process, with the journal" : "a crash"));
    }
    state.save();
  }
}
