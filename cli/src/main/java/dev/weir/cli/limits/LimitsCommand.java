package dev.weir.cli.limits;

import dev.weir.cli.command.CommandGroup;
import picocli.CommandLine.Command;

@Command(
    name = "limits",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "Reads and changes what customers have of their own: a plan, limits, or both.",
      "",
      "A customer is a value of a key in a domain: 'weir limits get shop user alice'. Write --"
          + " before a value that begins with a hyphen.",
      "",
      "Exit status: 0 if done, 1 if there is no such record or the server refuses, 3 if there is"
          + " no answer.",
      ""
    },
    commandListHeading = "%nCommands:%n",
    subcommands = {
      LimitsGetCommand.class,
      LimitsSetCommand.class,
      LimitsDeleteCommand.class,
      LimitsListCommand.class,
      LimitsImportCommand.class,
      LimitsExportCommand.class
    })
public final class LimitsCommand extends CommandGroup {}
