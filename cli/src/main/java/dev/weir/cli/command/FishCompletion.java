package dev.weir.cli.command;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * A writer of the completion script for fish, which the library for the other shells does not
 * write.
 */
final class FishCompletion {
  private FishCompletion() {}

  static void write(CommandLine main, PrintWriter out) {
    out.println("# Completes the commands and flags of weir.");
    out.println("complete -c weir -f");
    commands(main, "__fish_use_subcommand", out);
    for (Map.Entry<String, CommandLine> each : main.getSubcommands().entrySet()) {
      String name = each.getKey();
      CommandLine command = each.getValue();
      String seen = "__fish_seen_subcommand_from " + name;
      options(command.getCommandSpec(), seen, out);
      Map<String, CommandLine> verbs = command.getSubcommands();
      if (!verbs.isEmpty()) {
        String all = String.join(" ", verbs.keySet());
        commands(command, seen + "; and not __fish_seen_subcommand_from " + all, out);
        verbs.forEach(
            (verb, line) ->
                options(
                    line.getCommandSpec(),
                    seen + "; and __fish_seen_subcommand_from " + verb,
                    out));
      }
    }
  }

  private static void commands(CommandLine of, String when, PrintWriter out) {
    of.getSubcommands()
        .forEach(
            (name, command) ->
                out.println(
                    "complete -c weir -n %s -a %s -d %s"
                        .formatted(
                            quoted(when),
                            name,
                            quoted(UsageText.summary(command.getCommandSpec())))));
  }

  private static void options(CommandSpec command, String when, PrintWriter out) {
    for (OptionSpec option : command.options()) {
      if (option.hidden()) {
        continue;
      }
      List<String> words = new ArrayList<>(List.of("complete -c weir -n", quoted(when)));
      for (String name : option.names()) {
        words.add(name.startsWith("--") ? "-l " + name.substring(2) : "-s " + name.substring(1));
      }
      if (option.arity().max() > 0) {
        words.add("-r"); // Its value may be a file.
        words.add("-F");
      }
      String[] description = option.description();
      words.add(
          "-d " + quoted(description.length == 0 ? "" : UsageText.firstSentence(description[0])));
      out.println(String.join(" ", words));
    }
  }

  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
