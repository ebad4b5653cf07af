package dev.weir.cli;

import picocli.CommandLine.Command;

@Command(
    name = "config",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    description = {"Looks after a server's own configuration store.", ""},
    commandListHeading = "%nCommands:%n",
    subcommands = {ConfigRepairCommand.class})
final class ConfigCommand extends CommandGroup {}
