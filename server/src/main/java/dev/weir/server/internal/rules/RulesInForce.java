package dev.weir.server.internal.rules;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.engine.Engine;
import dev.weir.engine.RulesException;
import dev.weir.internal.Choice;
import dev.weir.internal.DaemonThreads;
import dev.weir.rules.Position;
import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import dev.weir.rules.RuleSource;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import dev.weir.server.internal.guard.GuardedTask;
import dev.weir.server.internal.guard.Loop;
import dev.weir.server.internal.http.RulesPage;
import dev.weir.server.internal.log.FewLines;
import dev.weir.server.internal.log.LogEvent;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.internal.settings.StoreUri;
import dev.weir.server.settings.StartException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.stream.Collectors;

/**
 * The source of the rules in force: it takes rules from files or a configuration store into an
 * engine, first at the start and then whenever they change.
 */
public final class RulesInForce implements RuleSource.Taker, AutoCloseable {
  /** The demo rules, in force with neither {@code --rules} nor a configuration store. */
  public static final String BUILT_IN = "demo.yaml";

  /**
   * The most problems that are logged: a broken file can have thousands, and a line for each would
   * hide all others.
   */
  private static final int MAX_LOGGED = 50;

  /**
   * The longest pause before the store is read again while there are no rules. The pause is random:
   * of many servers that start at once, few read at once.
   */
  private static final long MOST_PAUSE_MILLIS = 2_000;

  private final ServerSettings settings;
  private final Engine engine;
  private final Configuration configuration;
  private final RuleSource source;
  private final FewLines unread = new FewLines(Ticker.system());
  private final CountDownLatch closing = new CountDownLatch(1);

  public RulesInForce(ServerSettings settings, Engine engine, Configuration configuration) {
    this.settings = settings;
    this.engine = engine;
    this.configuration = configuration;
    List<Path> paths = settings.value(Settings.RULES);
    source =
        paths.isEmpty()
            ? configuration
                .stored()
                .map(StoredConfiguration::rules)
                .orElseGet(() -> new BuiltInRules(settings.ruleDefaults()))
            : RuleSource.files(paths, settings.ruleDefaults());
  }

  /**
   * Reads the first rules and puts them in force.
   *
   * @return the reasons why they are not in force, if they may come later from a configuration
   *     store; else empty
   * @throws StartException if they are broken, naming every problem
   */
  public List<Problem> begin() throws StartException {
    List<Problem> problems = first();
    if (problems.isEmpty() || settings.rulesFromStore()) {
      return problems;
    }
    throw new StartException("rules: errors; the server was not started\n" + lines(problems));
  }

  private List<Problem> first() {
    if (settings.value(Settings.UPSTREAM).isPresent()) {
      Logs.LOG.info("rules: those of " + settings.value(Settings.UPSTREAM).get());
      return List.of();
    }
    Rules.LoadResult first = source.load();
    RuleSet rules = first.ruleSet();
    if (rules == null) {
      return first.problems();
    }
    publish(rules);
    long revision;
    try {
      revision = engine.apply(rules);
    } catch (RulesException e) {
      return e.problems();
    }
    logWarnings(first, rules);
    UnreadFiles.log(settings);
    if (rules.isEmpty() && settings.rulesFromStore()) {
      LogEvent.of(
              Level.INFO,
              "rules_none",
              "rules: none, because the configuration store "
                  + configuration
                  + " is new; nothing is limited before the first ones come: "
                  + next())
          .log();
      return List.of();
    }
    LogEvent.of(
            Level.INFO,
            "rules_in_force",
            "rules: "
                + rules.rules().size()
                + " in force from "
                + from()
                + " (revision "
                + revision
                + ")\n"
                + RulesPage.text(rules, settings.shares()).stripTrailing())
        .with("revision", revision)
        .with("rules", rules.rules().size())
        .with("source", from())
        .log();
    warnOfSubjects(rules);
    return List.of();
  }

  private String from() {
    if (settings.rulesFromStore()) {
      return "the configuration store " + configuration;
    }
    List<Path> paths = settings.value(Settings.RULES);
    return paths.isEmpty()
        ? "the built-in demo rules, because --rules is not set"
        : paths.toString();
  }

  /** Returns the command that brings rules into the store. */
  private String next() {
    String server =
        settings
            .value(Settings.ADMIN_PORT)
            .map(
                port ->
                    (settings.value(Settings.TLS_CERT).isPresent() ? "https://" : "http://")
                        + settings.value(Settings.ADMIN_HOST)
                        + ":"
                        + (port == 0 ? "PORT" : port))
            .orElse("URL of a server with " + Settings.ADMIN_PORT.flag());
    return "weir rules push DIR --server " + server;
  }

  /**
   * Passes rules from files to the configuration before they are in force. It has those from the
   * store already.
   */
  private void publish(RuleSet rules) {
    if (!settings.rulesFromStore()) {
      configuration.inForce(rules);
    }
  }

  private void warnOfSubjects(RuleSet rules) {
    long count = rules.rules().stream().filter(rule -> rule.byLevel() >= 0).count();
    if (configuration.stored().isEmpty() && count > 0) {
      Logs.LOG.warning(
          "rules: "
              + count
              + " with by, but there is no configuration store: all have the rule's own number"
              + " (expected: "
              + Settings.DATA_DIR.flag()
              + " or "
              + Settings.CONFIG_STORE.flag()
              + ")");
    }
  }

  /**
   * Tries to get the first rules until there are some, on a thread of its own.
   *
   * @param why receives the reason, whenever it changes
   * @param done is called once, when rules are in force
   */
  public void await(List<Problem> known, Consumer<String> why, Runnable done) {
    DaemonThreads.create("weir-first-rules", () -> await(known, why, done, closing)).start();
  }

  private void await(
      List<Problem> known, Consumer<String> why, Runnable done, CountDownLatch closed) {
    String said = "";
    List<Problem> problems = known;
    try {
      while (!problems.isEmpty()) {
        String lines = StoreUri.hidden(lines(problems));
        if (!lines.equals(said)) {
          said = lines;
          LogEvent.of(
                  Level.SEVERE,
                  "rules_missing",
                  "rules: none in force, requests are not decided; tried again\n" + lines)
              .with("problems", fields(problems))
              .log();
          why.accept("no rules: " + lines.lines().findFirst().orElse(""));
        }
        if (closed.await(
            ThreadLocalRandom.current().nextLong(MOST_PAUSE_MILLIS + 1), TimeUnit.MILLISECONDS)) {
          return;
        }
        problems = attempt();
      }
      done.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private List<Problem> attempt() {
    try {
      return first();
    } catch (RuntimeException | Error e) {
      failed(e);
      return List.of(
          new Problem(
              Severity.ERROR, new Position("configuration store", 0, 0), String.valueOf(e)));
    }
  }

  /** Follows changes from now on. */
  public void watch() {
    source.follow(engine.rules(), this);
    if (!settings.rulesFromStore()) {
      configuration.follow(engine.rules(), this);
    }
  }

  /**
   * Logs a rule set that could not be read or put in force for a reason other than its content. A
   * configuration store that does not answer is no error of this server.
   */
  @Override
  public void failed(Throwable error) {
    if (error instanceof ConfigException) {
      unread.write(
          LogEvent.of(
                  Level.WARNING,
                  "rules_not_read",
                  "rules not read: "
                      + StoreUri.hidden(String.valueOf(error.getMessage()))
                      + "; revision "
                      + engine.revision()
                      + " stays in force")
              .with("revision", engine.revision()));
      return;
    }
    GuardedTask.failed(
        Loop.RULES,
        "a change could not be applied; revision "
            + engine.revision()
            + " stays in force"
            + (error instanceof Error ? "; it is tried again in a few seconds" : ""),
        error);
  }

  /** Puts a valid rule set in force; a set with errors is logged and changes nothing. */
  @Override
  public List<Problem> changed(Rules.LoadResult loaded) {
    RuleSet rules = loaded.ruleSet();
    if (rules == null) {
      engine.reloadFailed();
      return refused(loaded.problems());
    }
    RuleSetChange change = RuleSetChange.of(engine.rules(), rules);
    publish(rules);
    try {
      long revision = engine.apply(rules);
      logWarnings(loaded, rules);
      change.log(revision);
      warnOfSubjects(rules);
      return List.of();
    } catch (RulesException e) {
      return refused(e.problems());
    }
  }

  private List<Problem> refused(List<Problem> problems) {
    LogEvent.of(
            Level.SEVERE,
            "rules_refused",
            "rules: errors; revision " + engine.revision() + " stays in force\n" + lines(problems))
        .with("revision", engine.revision())
        .with("problems", fields(problems))
        .log();
    return problems.stream().filter(each -> each.severity() == Severity.ERROR).toList();
  }

  private void logWarnings(Rules.LoadResult loaded, RuleSet rules) {
    List<Problem> warnings =
        loaded.problems().stream()
            .filter(each -> each.severity() == Severity.WARNING)
            .collect(Collectors.toList());
    if (settings.shares()) {
      warnings.addAll(OptionsByStore.warnings(rules));
    }
    if (!warnings.isEmpty()) {
      LogEvent.of(Level.WARNING, "rules_warnings", "rules: warnings\n" + lines(warnings))
          .with("problems", fields(warnings))
          .log();
    }
  }

  private static String lines(List<Problem> problems) {
    return bounded(problems.stream().map(Problem::shown).toList());
  }

  /** Returns problems as the fields of a line in JSON. */
  private static List<Map<String, Object>> fields(List<Problem> problems) {
    return problems.stream().limit(MAX_LOGGED).map(RulesInForce::fields).toList();
  }

  private static Map<String, Object> fields(Problem problem) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("severity", Choice.text(problem.severity()));
    fields.put("file", StoreUri.hidden(problem.position().file()));
    fields.put("line", problem.position().line());
    fields.put("column", problem.position().column());
    fields.put("message", StoreUri.hidden(problem.message()));
    return fields;
  }

  private static String bounded(List<String> lines) {
    String text = String.join("\n", lines.subList(0, Math.min(MAX_LOGGED, lines.size())));
    return lines.size() <= MAX_LOGGED
        ? text
        : text + "\nand " + (lines.size() - MAX_LOGGED) + " more";
  }

  @Override
  public void close() {
    closing.countDown();
    source.close();
  }
}
