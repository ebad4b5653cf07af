package dev.weir.cli.cluster;

import dev.weir.cli.command.ServerFlags;
import dev.weir.rules.ShownText;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "transfer",
    mixinStandardHelpOptions = true,
    description = {"Has a member lead a group.", "", "Asked of a member on this machine.", ""})
final class ClusterTransferCommand implements Callable<Integer> {
  @Mixin private final ServerFlags server = new ServerFlags();

  @Parameters(index = "0", paramLabel = "GROUP", description = "The number of the group.")
  private int group;

  @Parameters(index = "1", paramLabel = "NAME", description = "The member.")
  private String member = "";

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    String done =
        new ClusterPage(server.client())
            .change(
                "{\"verb\":\"transfer\",\"group\":"
                    + group
                    + ",\"member\":"
                    + ClusterPage.quoted(member)
                    + "}");
    PrintWriter out = spec.commandLine().getOut();
    done.lines().forEach(line -> out.println(ShownText.plain(line)));
    out.flush();
    return 0;
  }
}
