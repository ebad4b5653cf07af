package dev.weir.cli.cluster;

import dev.weir.cli.command.ServerFlags;
import dev.weir.rules.ShownText;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "remove",
    mixinStandardHelpOptions = true,
    description = {
      "Removes a member of a cluster for good: its groups go to other members.",
      "",
      "Refused while the member is up, and if a group would lose its majority.",
      "",
      "Asked of a member on this machine.",
      ""
    })
final class ClusterRemoveCommand implements Callable<Integer> {
  @Mixin private final ServerFlags server = new ServerFlags();

  @Parameters(paramLabel = "NAME", description = "The member.")
  private String member = "";

  @Option(names = "--force", description = "Remove it although it is up.")
  private boolean force;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    String done =
        new ClusterPage(server.client())
            .change(
                "{\"verb\":\"remove\",\"member\":"
                    + ClusterPage.quoted(member)
                    + ",\"force\":"
                    + force
                    + "}");
    PrintWriter out = spec.commandLine().getOut();
    done.lines().forEach(line -> out.println(ShownText.plain(line)));
    out.flush();
    return 0;
  }
}
