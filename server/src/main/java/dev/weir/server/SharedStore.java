package dev.weir.server;

import dev.weir.FailureMode;
import dev.weir.Policy;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.internal.Choice;
import dev.weir.redis.RedisStore;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.StoreChoice;
import dev.weir.server.internal.access.PasswordFile;
import dev.weir.server.internal.log.FewLines;
import dev.weir.server.internal.log.LogEvent;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Setting;
import dev.weir.server.settings.Settings;
import dev.weir.server.settings.StartException;
import dev.weir.server.settings.StoreUri;
import dev.weir.shared.Clocks;
import dev.weir.shared.ClusterMember;
import dev.weir.shared.Counters;
import dev.weir.shared.SharedMetrics;
import dev.weir.shared.StoreSettings;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/** The store that this server shares with others, with the log lines about its state. */
final class SharedStore {
  /**
   * The longest wait for the first connection: a new server should not answer before it has reached
   * a store that is there.
   */
  private static final long MAX_WAIT_MILLIS = 2_000;

  private static final long STEP_MILLIS = 5;

  /** The most warnings that wait, more than the kinds of warnings that a store has. */
  private static final int MOST_WARNINGS = 16;

  private final Store store;
  private final Supplier<SharedMetrics> metrics;
  private final Supplier<String> problem;
  private final String where;
  private final String keys;
  private final @Nullable ClusterMembership membership;
  private final FewLines log;
  private final Warnings warnings;

  /** The state that was logged last, null before the first. */
  private @Nullable Boolean said;

  /**
   * @param problem the reason why the store cannot be reached, empty if it can be or the cause is
   *     unknown
   * @param where its address for messages, without a password
   * @param keys a word for the fingerprints by which the store identifies keys
   * @param membership in a cluster; null if there is no cluster
   */
  SharedStore(
      Store store,
      Supplier<SharedMetrics> metrics,
      Supplier<String> problem,
      String where,
      String keys,
      @Nullable ClusterMembership membership,
      FewLines log,
      Warnings warnings) {
    this.store = store;
    this.metrics = metrics;
    this.problem = problem;
    this.where = where;
    this.keys = keys;
    this.membership = membership;
    this.log = log;
    this.warnings = warnings;
  }

  /**
   * Opens the store by the settings, whether it can be reached or not. Returns null if limits are
   * counted in this process alone.
   *
   * @throws StartException if its password cannot be read, or this server cannot be the cluster's
   *     member
   * @throws InterruptedException if the thread is interrupted while it waits for the cluster
   */
  static @Nullable SharedStore open(ServerSettings settings, Ticker ticker)
      throws StartException, InterruptedException {
    if (!settings.value(Settings.CLUSTER).isEmpty()) {
      return joined(settings, ticker);
    }
    StoreUri uri = settings.value(Settings.STORE).orElse(null);
    if (uri == null) {
      return null;
    }
    if (!uri.seeds().isEmpty()) {
      return connected(settings, uri, ticker);
    }
    Details details = new Details(ticker);
    Warnings warnings = new Warnings(new FewLines(ticker));
    RedisStore.Builder builder =
        uri.builder()
            .prefix(settings.value(Settings.STORE_PREFIX))
            .timeout(settings.value(Settings.STORE_TIMEOUT))
            .replicas(settings.value(Settings.STORE_REPLICAS))
            .log(details)
            .warnings(warnings);
    Optional<Path> file = settings.value(Settings.STORE_PASSWORD_FILE);
    if (file.isPresent()) {
      builder.password(
          PasswordFile.read(settings.source(Settings.STORE_PASSWORD_FILE), file.get()));
    }
    RedisStore store = builder.build();
    details.store = store;
    return of(store, uri.toString(), "shared", null, ticker, warnings);
  }

  private static SharedStore of(
      dev.weir.shared.SharedStore store,
      String where,
      String keys,
      @Nullable ClusterMembership membership,
      Ticker ticker,
      Warnings warnings) {
    return new SharedStore(
        store,
        store::metrics,
        store::problem,
        where,
        keys,
        membership,
        new FewLines(ticker),
        warnings);
  }

  /** Returns the store of the cluster that this server joins as a member. */
  private static SharedStore joined(ServerSettings settings, Ticker ticker)
      throws StartException, InterruptedException {
    FewLines lines = new FewLines(ticker);
    Warnings warnings = new Warnings(new FewLines(ticker));
    ClusterMembership membership =
        provider(Settings.CLUSTER)
            .join(
                settings,
                storeSettings(settings, lines, warnings),
                line -> lines.write(Level.INFO, line));
    List<String> names =
        settings.value(Settings.CLUSTER).stream().map(ClusterMember::name).toList();
    String where = "the cluster of " + String.join(", ", names);
    return of(membership.store(), where, "the cluster's", membership, ticker, warnings);
  }

  /** Returns the store of a cluster of which this server is not a member. */
  private static SharedStore connected(ServerSettings settings, StoreUri uri, Ticker ticker)
      throws StartException, InterruptedException {
    FewLines lines = new FewLines(ticker);
    Warnings warnings = new Warnings(new FewLines(ticker));
    dev.weir.shared.SharedStore store =
        provider(Settings.STORE)
            .connect(
                settings,
                uri,
                storeSettings(settings, lines, warnings),
                line -> lines.write(Level.INFO, line));
    return of(store, uri.toString(), "the cluster's", null, ticker, warnings);
  }

  private static ClusterProvider provider(Setting<?> setting) throws StartException {
    try {
      return ClusterProvider.find();
    } catch (StartException e) {
      throw new StartException(setting.flag() + ": " + e.getMessage(), e);
    }
  }

  private static StoreSettings storeSettings(
      ServerSettings settings, FewLines lines, Warnings warnings) {
    return new StoreSettings(
        "cluster",
        settings.value(Settings.STORE_TIMEOUT).toNanos(),
        new Clocks(Ticker.system(), Ticker.wall()),
        false,
        line -> lines.write(Level.INFO, "store: " + line),
        warnings,
        new Counters());
  }

  /**
   * Warnings that limits may not hold. They have a line limit of their own, because a store that
   * comes and goes would use up a common one. A warning that has to wait is kept. Safe for use by
   * many threads.
   */
  static final class Warnings implements Consumer<String> {
    private final FewLines log;
    private final Queue<String> unsaid = new ArrayDeque<>();

    Warnings(FewLines log) {
      this.log = log;
    }

    @Override
    public synchronized void accept(String line) {
      if (unsaid.size() < MOST_WARNINGS && !unsaid.contains(line)) {
        unsaid.add(line);
      }
      say();
    }

    /** Logs the warnings that wait, as far as the line limit allows. */
    synchronized void say() {
      for (String line = unsaid.peek(); line != null; line = unsaid.peek()) {
        if (!log.writeOrKeep(Level.WARNING, "store: " + StoreUri.hidden(line))) {
          return;
        }
        unsaid.remove();
      }
    }
  }

  /** The store's own log lines, which are warnings while the store does not decide. */
  private static final class Details implements Consumer<String> {
    private final FewLines log;
    private volatile @Nullable RedisStore store;

    Details(Ticker ticker) {
      log = new FewLines(ticker);
    }

    @Override
    public void accept(String line) {
      RedisStore known = store;
      boolean decides = known != null && known.available();
      log.write(decides ? Level.INFO : Level.WARNING, "store: " + StoreUri.hidden(line));
    }
  }

  Store store() {
    return store;
  }

  /** Returns a word for the fingerprints by which the store identifies keys. */
  String keys() {
    return keys;
  }

  /** Returns this server's membership in a cluster; null if there is no cluster. */
  @Nullable ClusterMembership membership() {
    return membership;
  }

  SharedMetrics metrics() {
    return metrics.get();
  }

  /** Waits a while until the store can be reached; the server also starts without it. */
  void await() throws InterruptedException {
    if (membership != null) {
      membership.awaitCaughtUp();
    }
    for (long waited = 0; waited < MAX_WAIT_MILLIS && !metrics().available(); ) {
      Thread.sleep(STEP_MILLIS);
      waited += STEP_MILLIS;
    }
  }

  /**
   * Logs once, at the start, the answers of the rules while the store does not decide: users of
   * envoyproxy/ratelimit are used to the opposite.
   *
   * @param rules in force
   */
  void begin(RuleSet rules) {
    Logs.LOG.info(
        "store: while "
            + where
            + " does not decide, rules answer: "
            + answers(rules)
            + "; rules without on_failure, and limits that requests bring: "
            + Choice.text(rules.defaults().onFailure())
            + " ("
            + Settings.ON_FAILURE.flag()
            + "). With envoyproxy/ratelimit, Envoy lets such requests pass by default");
  }

  /**
   * Logs when the store is lost or reached, and warnings that had to wait; called about once a
   * second.
   *
   * @param rules in force
   */
  void look(RuleSet rules) {
    warnings.say();
    boolean available = metrics().available();
    if (said == null || said != available) {
      LogEvent line =
          available
              ? LogEvent.of(Level.INFO, "store_decides", "store: " + where + " decides")
              : LogEvent.of(Level.WARNING, "store_lost", "store: " + lost() + until(rules))
                  .with("reason", StoreUri.hidden(problem.get()));
      boolean written = log.writeOrKeep(line.with("store", where));
      if (written) {
        said = available;
      }
    }
  }

  private String lost() {
    String cause = StoreUri.hidden(problem.get());
    return where + " does not decide" + (cause.isEmpty() ? "" : " (" + cause + ")") + "; ";
  }

  /** Returns the answers until the store decides, in words. */
  private static String until(RuleSet rules) {
    return "until it does, rules answer by their on_failure: " + answers(rules);
  }

  /** Returns the number of rules by their answers. */
  private static String answers(RuleSet rules) {
    Map<FailureMode, Integer> answers = new EnumMap<>(FailureMode.class);
    for (Rule rule : rules.rules()) {
      Policy policy = rule.policy();
      if (policy != null && rule.store() != StoreChoice.LOCAL) {
        answers.merge(policy.sharing().onFailure(), 1, Integer::sum);
      }
    }
    List<String> words = new ArrayList<>();
    answers.forEach((answer, count) -> words.add(count + " " + Choice.text(answer)));
    return words.isEmpty() ? "none" : String.join(", ", words);
  }

  /** Returns the store's URI, without a password. */
  @Override
  public String toString() {
    return where;
  }
}
