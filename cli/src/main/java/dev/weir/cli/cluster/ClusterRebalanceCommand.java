package dev.weir.cli.cluster;

import dev.weir.cli.command.ServerFlags;
import dev.weir.rules.ShownText;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "rebalance",
    mixinStandardHelpOptions = true,
    description = {
      "Moves replicas of groups to the members that should have them, and slots of keys to the"
          + " groups that should have them.",
      "",
      "That is done by itself when members join or are removed, and when there are more groups.",
      "",
      "Asked of a member on this machine.",
      ""
    })
final class ClusterRebalanceCommand implements Callable<Integer> {
  @Mixin private final ServerFlags server = new ServerFlags();

  @Option(names = "--dry-run", description = "Only show what would be moved.")
  private boolean dryRun;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    String done =
        new ClusterPage(server.client())
            .change("{\"verb\":\"rebalance\",\"dry_run\":" + dryRun + "}");
    PrintWriter out = spec.commandLine().getOut();
    done.lines().forEach(line -> out.println(ShownText.plain(line)));
    out.flush();
    return 0;
  }
}
