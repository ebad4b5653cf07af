package dev.weir.cli.admin;

import dev.weir.cli.command.CommandGroup;
import picocli.CommandLine.Command;

@Command(
    name = "tokens",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "Makes, lists and revokes tokens of the administration interface.",
      "",
      "The first token cannot be made with a token. It is made in the store itself, while no"
          + " server has an embedded one open:",
      "",
      "  T=$(weir tokens create --data-dir data --name me --role operator)",
      ""
    },
    commandListHeading = "%nCommands:%n",
    subcommands = {TokensCreateCommand.class, TokensListCommand.class, TokensRevokeCommand.class})
public final class TokensCommand extends CommandGroup {}
