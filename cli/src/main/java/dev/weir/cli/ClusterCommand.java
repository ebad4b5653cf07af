package dev.weir.cli;

import picocli.CommandLine.Command;

@Command(
    name = "cluster",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "Shows how a cluster of servers is, or starts one to try.",
      "",
      "A member of a cluster is started by 'weir serve --cluster ...'.",
      ""
    },
    commandListHeading = "%nCommands:%n",
    subcommands = {
      ClusterStatusCommand.class,
      ClusterVerifyCommand.class,
      ClusterDemoCommand.class
    })
final class ClusterCommand extends CommandGroup {}
