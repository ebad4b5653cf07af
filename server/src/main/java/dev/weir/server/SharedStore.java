package dev.weir.server;

import dev.weir.FailureAnswer;
import dev.weir.Policy;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.redis.RedisMetrics;
import dev.weir.redis.RedisStore;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.StoreChoice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
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

/** The store that this server shares with others, and what the log says of it. */
final class SharedStore {
  /** What a connection may take; who starts must not refuse for want of one just yet. */
  private static final long MAX_WAIT_MILLIS = 2_000;

  private static final long STEP_MILLIS = 5;

  /** More warnings than a store has settings that can be wrong. */
  private static final int MOST_WARNINGS = 16;

  private final Store store;
  private final Supplier<RedisMetrics> metrics;
  private final Supplier<String> problem;
  private final String where;
  private final FewLines log;
  private final Warnings warnings;

  /** What the log has said last, null before. */
  private @Nullable Boolean said;

  /**
   * @param problem why the store cannot be asked, empty if it can or nobody knows
   * @param where for people, without a password
   */
  SharedStore(
      Store store,
      Supplier<RedisMetrics> metrics,
      Supplier<String> problem,
      String where,
      FewLines log,
      Warnings warnings) {
    this.store = store;
    this.metrics = metrics;
    this.problem = problem;
    this.where = where;
    this.log = log;
    this.warnings = warnings;
  }

  /**
   * Opens the store by the settings, whether it can be reached or not. Returns null if it is this
   * process alone.
   *
   * @throws StartException if its password cannot be read
   */
  static @Nullable SharedStore open(ServerSettings settings, Ticker ticker) throws StartException {
    StoreUri uri = settings.value(Setting.STORE).orElse(null);
    if (uri == null) {
      return null;
    }
    Details details = new Details(ticker);
    Warnings warnings = new Warnings(new FewLines(ticker));
    RedisStore.Builder builder =
        uri.builder()
            .prefix(settings.value(Setting.STORE_PREFIX))
            .timeout(settings.value(Setting.STORE_TIMEOUT))
            .replicas(settings.value(Setting.STORE_REPLICAS))
            .log(details)
            .warnings(warnings);
    Optional<Path> file = settings.value(Setting.STORE_PASSWORD_FILE);
    if (file.isPresent()) {
      builder.password(password(settings.source(Setting.STORE_PASSWORD_FILE), file.get()));
    }
    RedisStore store = builder.build();
    details.store = store;
    return new SharedStore(
        store, store::metrics, store::problem, uri.toString(), new FewLines(ticker), warnings);
  }

  /**
   * What breaks promises: it has a voice of its own, or a store that comes and goes would use up
   * its lines; and what cannot be said yet is kept until it can. Safe for use by many threads.
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

    /** Says what has not been said, as far as may be. */
    synchronized void say() {
      for (String line = unsaid.peek(); line != null; line = unsaid.peek()) {
        if (!log.writeOrKeep(Level.WARNING, "store: " + StoreUri.hidden(line))) {
          return;
        }
        unsaid.remove();
      }
    }
  }

  /** What the store says of itself: a warning, unless it decides. */
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

  private static String password(String source, Path file) throws StartException {
    String where = source + ": " + file;
    try {
      String password = Files.readString(file, StandardCharsets.UTF_8).replaceFirst("\\R$", "");
      if (password.isEmpty() || password.lines().count() > 1) {
        throw new StartException(where + ": not one line (expected: the password alone)");
      }
      return password;
    } catch (IOException e) {
      throw new StartException(where + ": cannot be read: " + e + " (expected: a password)", e);
    }
  }

  Store store() {
    return store;
  }

  RedisMetrics metrics() {
    return metrics.get();
  }

  /** Waits until the store can be asked, but not for long: without it the server starts as well. */
  void await() throws InterruptedException {
    for (long waited = 0; waited < MAX_WAIT_MILLIS && !metrics().available(); ) {
      Thread.sleep(STEP_MILLIS);
      waited += STEP_MILLIS;
    }
  }

  /**
   * Tells the log, once at the start, what is answered when the store cannot be asked: whoever
   * comes from envoyproxy/ratelimit is used to the opposite.
   *
   * @param rules in force
   */
  void begin(RuleSet rules) {
    Logs.LOG.info(
        "store: when "
            + where
            + " cannot be asked, rules answer: "
            + answers(rules)
            + "; limits that requests bring, and rules that do not say on_failure: "
            + RulesPage.lower(rules.defaults().onFailure())
            + " ("
            + Setting.ON_FAILURE.flag()
            + "). Envoy's own habit is to allow: with envoyproxy/ratelimit such requests pass");
  }

  /**
   * Tells the log when the store is lost or reached, and what it could not be told before; to be
   * called every second or so.
   *
   * @param rules in force
   */
  void look(RuleSet rules) {
    warnings.say();
    boolean available = metrics().available();
    if (said == null || said != available) {
      boolean written =
          available
              ? log.writeOrKeep(Level.INFO, "store: " + where + " decides")
              : log.writeOrKeep(Level.WARNING, "store: " + lost() + until(rules));
      if (written) {
        said = available;
      }
    }
  }

  private String lost() {
    String cause = StoreUri.hidden(problem.get());
    return where + " does not decide" + (cause.isEmpty() ? "" : " (" + cause + ")") + "; ";
  }

  /** Returns what is answered until the store decides. */
  private static String until(RuleSet rules) {
    return "until it does, rules answer as their on_failure says: " + answers(rules);
  }

  /** Returns how many rules answer how. */
  private static String answers(RuleSet rules) {
    Map<FailureAnswer, Integer> answers = new EnumMap<>(FailureAnswer.class);
    for (Rule rule : rules.rules()) {
      Policy policy = rule.policy();
      if (policy != null && rule.store() != StoreChoice.LOCAL) {
        answers.merge(policy.onFailure(), 1, Integer::sum);
      }
    }
    List<String> words = new ArrayList<>();
    answers.forEach((answer, count) -> words.add(count + " " + RulesPage.lower(answer)));
    return words.isEmpty() ? "none" : String.join(", ", words);
  }

  /** Returns where it is, without a password. */
  @Override
  public String toString() {
    return where;
  }
}
