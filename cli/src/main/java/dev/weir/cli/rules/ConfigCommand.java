package dev.weir.cli.rules;

import dev.weir.cli.command.CommandGroup;
import picocli.CommandLine.Command;

@Command(
    name = "config",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    description = {"Looks after a server's own configuration store.", ""},
    commandListHeading = "%nCommands:%n",
    subcommands = {ConfigRepairCommand.class})
public final class ConfigCommand extends CommandGroup {}
