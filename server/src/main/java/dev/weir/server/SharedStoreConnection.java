package dev.weir.server;

import dev.weir.FailureMode;
import dev.weir.Policy;
import dev.weir.Store;
import dev.weir.internal.Choice;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.StoreChoice;
import dev.weir.server.internal.log.FewLines;
import dev.weir.server.internal.log.LogEvent;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.metrics.Families;
import dev.weir.server.internal.metrics.StoreFamilies;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.internal.settings.StoreUri;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/** The connection to the store that this server shares with others; logs its state. */
class SharedStoreConnection implements StoreConnection {
  /**
   * The longest wait for the first connection: a new server should not answer before it has reached
   * a store that is there.
   */
  private static final long MAX_WAIT_MILLIS = 2_000;

  private static final long STEP_MILLIS = 5;

  /** The most warnings that wait, more than the kinds of warnings that a store has. */
  private static final int MOST_WARNINGS = 16;

  private final Store store;
  private final StoreProbe probe;
  private final String where;
  private final String keys;
  private final FewLines log;
  private final Warnings warnings;

  /** The state that was logged last, null before the first. */
  private @Nullable Boolean said;

  /**
   * @param where its address for messages, without a password
   * @param keys a word for the fingerprints by which the store identifies keys
   * @param log for the lines about its state
   */
  SharedStoreConnection(
      Store store, StoreProbe probe, String where, String keys, FewLines log, Warnings warnings) {
    this.store = store;
    this.probe = probe;
    this.where = where;
    this.keys = keys;
    this.log = log;
    this.warnings = warnings;
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
      logWarnings();
    }

    /** Logs the warnings that wait, as far as the line limit allows. */
    synchronized void logWarnings() {
      for (String line = unsaid.peek(); line != null; line = unsaid.peek()) {
        if (!log.writeOrKeep(Level.WARNING, "store: " + StoreUri.hiddenIn(line))) {
          return;
        }
        unsaid.remove();
      }
    }
  }

  @Override
  public Optional<Store> store() {
    return Optional.of(store);
  }

  @Override
  public String keys() {
    return keys;
  }

  @Override
  public String place() {
    return ", store " + where;
  }

  @Override
  public void begin(RuleSet rules, boolean warm) throws InterruptedException {
    announce(rules);
    await(warm);
    check(rules);
  }

  /**
   * Waits a while until the store can be reached; the server also starts without it.
   *
   * @param warm true to warm up the path to the store
   */
  void await(boolean warm) throws InterruptedException {
    for (long waited = 0; waited < MAX_WAIT_MILLIS && !available(); waited += STEP_MILLIS) {
      Thread.sleep(STEP_MILLIS);
    }
  }

  private boolean available() {
    return probe.metrics().get().available();
  }

  /**
   * Logs once, at the start, the answers of the rules while the store does not decide: users of
   * envoyproxy/ratelimit are used to the opposite.
   *
   * @param rules in force
   */
  void announce(RuleSet rules) {
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

  /** Logs when the store is lost or reached, and warnings that had to wait. */
  @Override
  public void check(RuleSet rules) {
    warnings.logWarnings();
    boolean available = available();
    if (said == null || said != available) {
      LogEvent line =
          available
              ? LogEvent.of(Level.INFO, "store_decides", "store: " + where + " decides")
              : LogEvent.of(Level.WARNING, "store_lost", "store: " + lost() + until(rules))
                  .with("reason", StoreUri.hiddenIn(probe.problem().get()));
      boolean written = log.writeOrKeep(line.with("store", where));
      if (written) {
        said = available;
      }
    }
  }

  private String lost() {
    String cause = StoreUri.hiddenIn(probe.problem().get());
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

  @Override
  public void addMetrics(Families to) {
    StoreFamilies.add(to, probe.metrics().get());
  }

  @Override
  public void close() {
    store.close();
  }
}
