package dev.weir.server;

import dev.weir.engine.Engine;
import dev.weir.engine.RulesException;
import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import dev.weir.rules.RuleSource;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import dev.weir.server.door.Guarded;
import dev.weir.server.door.Logs;
import dev.weir.server.door.Loop;
import dev.weir.server.http.Endpoints;
import dev.weir.server.http.RulesPage;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Settings;
import dev.weir.server.settings.StartException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Brings rules from files into an engine, first at the start and then whenever they change. */
final class RulesInForce implements RuleSource.Taker, AutoCloseable {
  /** The demo rules, in force without {@code --rules}. */
  static final String BUILT_IN = "demo.yaml";

  /** A broken file can have thousands of problems; a log line for each would hide all others. */
  private static final int MAX_LOGGED = 50;

  private final Engine engine;
  private @Nullable RuleSource source;

  private RulesInForce(Engine engine) {
    this.engine = engine;
  }

  /** Reads the rules that the settings name, without putting them in force. */
  static Rules.Loaded load(ServerSettings settings) {
    List<Path> paths = settings.value(Settings.RULES);
    return paths.isEmpty()
        ? Rules.parse("built-in rules", Endpoints.resource(BUILT_IN), settings.ruleDefaults())
        : Rules.load(paths, settings.ruleDefaults());
  }

  /**
   * Puts the first rules in force.
   *
   * @throws StartException if they are broken, naming every problem
   */
  static RulesInForce start(ServerSettings settings, Engine engine, Rules.Loaded first)
      throws StartException {
    RuleSet rules = first.ruleSet();
    if (rules == null) {
      throw new StartException(
          "rules: errors; the server was not started\n" + lines(first.problems()));
    }
    long revision;
    try {
      revision = engine.apply(rules);
    } catch (RulesException e) {
      throw new StartException("rules: errors; the server was not started\n" + lines(e.problems()));
    }
    logWarnings(first);
    Logs.LOG.info(
        "rules: "
            + rules.rules().size()
            + " in force from "
            + (settings.value(Settings.RULES).isEmpty()
                ? "the built-in demo rules, because --rules is not set"
                : settings.value(Settings.RULES))
            + " (revision "
            + revision
            + ")\n"
            + RulesPage.text(rules, settings.value(Settings.STORE).isPresent()).stripTrailing());
    return new RulesInForce(engine);
  }

  /** Reloads the files from now on when they change. */
  void watch(ServerSettings settings) {
    List<Path> paths = settings.value(Settings.RULES);
    if (!paths.isEmpty()) {
      source = RuleSource.files(paths, settings.ruleDefaults());
      source.follow(engine.rules(), this);
    }
  }

  /** Logs a rule set that could not be read or put in force for a reason other than its content. */
  @Override
  public void failed(Throwable error) {
    Guarded.failed(
        Loop.RULES,
        "a change could not be applied; revision "
            + engine.revision()
            + " stays in force"
            + (error instanceof Error ? "; it is tried again in a few seconds" : ""),
        error);
  }

  /** Puts a valid rule set in force; a set with errors is logged and changes nothing. */
  @Override
  public List<Problem> changed(Rules.Loaded loaded) {
    RuleSet rules = loaded.ruleSet();
    if (rules == null) {
      engine.reloadFailed();
      return refused(loaded.problems());
    }
    List<String> difference = engine.rules().diff(rules);
    try {
      long revision = engine.apply(rules);
      logWarnings(loaded);
      Logs.LOG.info(
          "rules: revision "
              + revision
              + " in force\n"
              + (difference.isEmpty() ? "no rule has changed" : bounded(difference)));
      return List.of();
    } catch (RulesException e) {
      return refused(e.problems());
    }
  }

  private List<Problem> refused(List<Problem> problems) {
    Logs.LOG.severe(
        "rules: errors; revision " + engine.revision() + " stays in force\n" + lines(problems));
    return problems;
  }

  private static void logWarnings(Rules.Loaded loaded) {
    List<Problem> warnings =
        loaded.problems().stream().filter(each -> each.severity() == Severity.WARNING).toList();
    if (!warnings.isEmpty()) {
      Logs.LOG.warning("rules: warnings\n" + lines(warnings));
    }
  }

  private static String lines(List<Problem> problems) {
    return bounded(problems.stream().map(Problem::toString).toList());
  }

  private static String bounded(List<String> lines) {
    String text = String.join("\n", lines.subList(0, Math.min(MAX_LOGGED, lines.size())));
    return lines.size() <= MAX_LOGGED
        ? text
        : text + "\nand " + (lines.size() - MAX_LOGGED) + " more";
  }

  @Override
  public void close() {
    if (source != null) {
      source.close();
    }
  }
}
