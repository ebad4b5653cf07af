package dev.weir.cli.rules;

import dev.weir.cli.Main;
import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.admin.AdminCommand;
import dev.weir.cli.command.JsonObject;
import dev.weir.cli.command.UrlText;
import dev.weir.config.Json;
import dev.weir.rules.ShownText;
import dev.weir.rules.ValueErrors;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "diff",
    mixinStandardHelpOptions = true,
    description = {
      "Shows what differs between the rules of a server's store and a folder, or between two"
          + " revisions.",
      "",
      "  weir rules diff DIR                what 'weir rules push DIR' would change",
      "  weir rules diff --from 40 --to 42  what changed from revision 40 to 42",
      "  weir rules diff                    what the newest revision changed",
      "",
      "Exit status: 0 if nothing differs, 1 if something does.",
      ""
    })
final class RulesDiffCommand extends AdminCommand {
  @Parameters(
      paramLabel = "DIR",
      arity = "0..1",
      description = "A folder of rule files, or one rule file.")
  private @Nullable Path path;

  @Option(
      names = "--from",
      paramLabel = "R",
      description =
          "The older revision. Default: with DIR the newest, otherwise the one before --to")
  private @Nullable Long from;

  @Option(names = "--to", paramLabel = "R", description = "The newer revision. Default: the newest")
  private @Nullable Long to;

  @Option(names = "--text", description = "Show the lines of the files that differ, too.")
  private boolean text;

  @Override
  public int run() throws InterruptedException {
    if (path != null && to != null) {
      throw wrong(ValueErrors.line("--to", to, "a folder, or a revision"));
    }
    RuleTexts local = path == null ? RuleTexts.NONE : RuleTexts.read(List.of(path));
    AdminClient client = server().client();
    long newest = to != null ? to : client.get("/rules").json().number("revision");
    long older = from != null ? from : path != null ? newest : newest - 1;
    RuleTexts before = at(client, older, local);
    RuleTexts after = path != null ? local : at(client, newest, before);
    List<String> diff = before.diff(after);
    String lines = text && !diff.isEmpty() ? lines(client, older, newest, local) : "";
    if (json()) {
      out().println(Json.write(Map.of("from", older, "diff", diff, "text_diff", lines)));
    } else if (diff.isEmpty()) {
      out().println("no difference");
    } else {
      show(diff);
      lines.lines().map(ShownText::plain).forEach(out()::println);
    }
    return diff.isEmpty() ? 0 : Main.FOUND;
  }

  /** Returns the lines that differ, as the server reports them. */
  private String lines(AdminClient client, long older, long newer, RuleTexts local)
      throws InterruptedException {
    if (older <= 0) {
      return "";
    }
    JsonObject answer =
        path == null
            ? client.get("/rules/diff" + UrlText.query("from", "" + older, "to", "" + newer)).json()
            : client
                .call(
                    "POST",
                    "/rules/check",
                    Map.of(),
                    Json.write(Map.of("files", local.texts(), "base", older)),
                    Set.of())
                .json();
    return answer.text("text_diff");
  }

  private static RuleTexts at(AdminClient client, long revision, RuleTexts known)
      throws InterruptedException {
    // Before the first revision there are no rules.
    return revision <= 0 ? RuleTexts.NONE : StoredRules.of(client, revision, known);
  }
}
