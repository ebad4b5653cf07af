package dev.weir.cli.rules;

import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.command.UrlText;
import dev.weir.rules.ValueErrors;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags for the reason of a change, and for waiting until every server has it. */
public final class WriteFlags {
  static final int MIN_REASON = 3;
  static final int MAX_REASON = 500;

  /** The longest time that a server waits for others. */
  private static final long MAX_WAIT_SECONDS = 60;

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      description = "Why, for the audit: 3 to 500 characters. Required, except with --dry-run.")
  private @Nullable String reason;

  @Option(
      names = "--wait",
      description =
          "Wait until every live server has the change, at most for --timeout; exit with 1 and"
              + " name the servers that do not have it then.")
  private boolean wait;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Returns the reason, which must be given. */
  public String reason() {
    if (reason == null) {
      throw new ParameterException(
          command.commandLine(),
          ValueErrors.line("--reason", "none", "why this is changed, in 3 to 500 characters"));
    }
    return reason("--reason", reason, command);
  }

  public static String reason(String flag, String text, CommandSpec command) {
    String stripped = text.strip();
    if (stripped.length() < MIN_REASON
        || stripped.length() > MAX_REASON
        || stripped.chars().anyMatch(Character::isISOControl)) {
      throw new ParameterException(
          command.commandLine(),
          ValueErrors.line(
              flag,
              stripped.length() > MAX_REASON ? stripped.length() + " characters" : '"' + text + '"',
              MIN_REASON + " to " + MAX_REASON + " characters, no control characters"));
    }
    return stripped;
  }

  /**
   * Returns the query of a write, with its question mark if it is not empty.
   *
   * @param namesAndValues the names and values of other parameters, in turn
   */
  public String query(AdminClient client, String... namesAndValues) {
    String seconds = Math.min(client.timeoutSeconds(), MAX_WAIT_SECONDS) + "s";
    List<String> all = new ArrayList<>(List.of(namesAndValues));
    if (wait) {
      all.addAll(List.of("wait", "applied", "timeout", seconds));
    }
    return UrlText.query(all.toArray(new String[0]));
  }

  /**
   * Shows what a server reports of the other servers, if the command has to wait for them.
   *
   * @return the exit status
   */
  public int applied(AdminClient.Answer answer, PrintWriter err) {
    return wait ? RolloutReport.show(answer, err) : 0;
  }
}
