package dev.weir.cli.cluster;

import dev.weir.cli.command.CommandGroup;
import picocli.CommandLine.Command;

@Command(
    name = "cluster",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "Shows how a cluster of servers is, changes its members, makes backups of it, or starts one"
          + " to try.",
      "",
      "A member of a cluster is started by 'weir serve --cluster ...'.",
      ""
    },
    commandListHeading = "%nCommands:%n",
    subcommands = {
      ClusterStatusCommand.class,
      ClusterVerifyCommand.class,
      ClusterRemoveCommand.class,
      ClusterTransferCommand.class,
      ClusterRebalanceCommand.class,
      ClusterGroupsCommand.class,
      ClusterSlotsCommand.class,
      ClusterCalendarCommand.class,
      ClusterBackupCommand.class,
      ClusterRestoreCommand.class,
      ClusterDemoCommand.class
    })
public final class ClusterCommand extends CommandGroup {}
