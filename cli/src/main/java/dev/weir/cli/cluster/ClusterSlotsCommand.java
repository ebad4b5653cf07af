package dev.weir.cli.cluster;

import dev.weir.cli.Main;
import dev.weir.cli.command.ServerFlags;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

@Command(
    name = "slots",
    mixinStandardHelpOptions = true,
    description = {
      "Shows which groups of a cluster have how many of its 4,096 slots of keys, and which slots are"
          + " on their way.",
      "",
      "Exit status: 0 if every slot is where it should be, 1 if some are to move, 2 if the member"
          + " that was asked is not there.",
      ""
    })
final class ClusterSlotsCommand implements Callable<Integer> {
  @Mixin private final ServerFlags server = new ServerFlags();

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    ClusterView view = ClusterView.read(new ClusterPage(server.client()).call());
    PrintWriter out = spec.commandLine().getOut();
    out.println(ClusterTable.slots(view));
    out.flush();
    return view.slotsToMove() == 0 && view.moves().isEmpty() ? 0 : Main.FOUND;
  }
}
