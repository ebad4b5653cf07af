package dev.weir.cli.rules;

import dev.weir.cli.command.CommandGroup;
import picocli.CommandLine.Command;

@Command(
    name = "rules",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "Brings rule files into a server's configuration store and back, and shows its revisions.",
      "",
      "Exit status: 0 if done, 1 if there are problems or the server refuses, 3 if there is no"
          + " answer.",
      ""
    },
    commandListHeading = "%nCommands:%n",
    subcommands = {
      RulesPushCommand.class,
      RulesPullCommand.class,
      RulesDiffCommand.class,
      RulesLogCommand.class,
      RulesRollbackCommand.class
    })
public final class RulesCommand extends CommandGroup {}
