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
    name = "groups",
    mixinStandardHelpOptions = true,
    description = {
      "Has more groups share the keys of a cluster, which uses more processors.",
      "",
      "Keys move to the new groups while requests go on; 'weir cluster slots' shows how far that"
          + " is. There is no way back to fewer.",
      "",
      "Asked of a member on this machine.",
      ""
    })
final class ClusterGroupsCommand implements Callable<Integer> {
  @Mixin private final ServerFlags server = new ServerFlags();

  @Parameters(
      index = "0",
      paramLabel = "NUMBER",
      description = "How many groups there are to be: more than now, and at most 256.")
  private int groups;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    String done =
        new ClusterPage(server.client()).change("{\"verb\":\"groups\",\"groups\":" + groups + "}");
    PrintWriter out = spec.commandLine().getOut();
    done.lines().forEach(line -> out.println(ShownText.plain(line)));
    out.flush();
    return 0;
  }
}
