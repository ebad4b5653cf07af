package dev.weir.engine;

import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A listener that writes the outcome of changed rules to the platform's log, under this package's
 * name.
 */
final class LoggedReloads implements ReloadListener {
  /**
   * The most lines for one rule set: a broken file can have thousands of problems, and a log line
   * for each would hide all others.
   */
  private static final int MAX_LINES = 50;

  private static final System.Logger LOG = System.getLogger("dev.weir.engine");

  @Override
  public void applied(long revision, RuleSet rules, List<String> changes, List<Problem> warnings) {
    LOG.log(
        System.Logger.Level.INFO,
        "rules: revision {0} in force, {1} rules{2}",
        revision,
        rules.rules().size(),
        changes.isEmpty() ? "" : lines(changes));
    if (!warnings.isEmpty()) {
      LOG.log(System.Logger.Level.WARNING, "rules: warnings{0}", problems(warnings));
    }
  }

  @Override
  public void refused(long revision, List<Problem> problems) {
    LOG.log(
        System.Logger.Level.ERROR,
        "rules: errors; revision {0} stays in force{1}",
        revision,
        problems(problems));
  }

  @Override
  public void failed(String what, Throwable error) {
    LOG.log(System.Logger.Level.ERROR, what + ": failed, it is tried again", error);
  }

  private static String problems(List<Problem> problems) {
    return lines(problems.stream().map(Problem::toString).toList());
  }

  private static String lines(List<String> lines) {
    String text =
        lines.stream().limit(MAX_LINES).map(line -> "\n" + line).collect(Collectors.joining());
    int more = lines.size() - MAX_LINES;
    return more > 0 ? text + "\nand " + more + " more" : text;
  }
}
