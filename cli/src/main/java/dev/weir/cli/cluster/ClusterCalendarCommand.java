package dev.weir.cli.cluster;

import dev.weir.Ticker;
import dev.weir.cli.cluster.ClusterView.Replica;
import dev.weir.cli.command.HeadedTable;
import dev.weir.cli.command.ServerFlags;
import dev.weir.rules.ShownText;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "calendar",
    mixinStandardHelpOptions = true,
    description = {
      "Shows by which calendar windows begin that are aligned to it, or sets it.",
      "",
      "The calendar of a group follows the clock of the member that leads it, as long as that is"
          + " less than --cluster-max-skew off. After the cluster was away for longer, look at a"
          + " watch and set it.",
      ""
    })
final class ClusterCalendarCommand implements Callable<Integer> {
  @Mixin private final ServerFlags server = new ServerFlags();

  @Option(
      names = "--now",
      description =
          "Set the calendar of each group to what the wall clock of the member shows that is asked,"
              + " where it is behind that; it is never set back. Asked of a member on this machine."
              + " Windows that it passes over end early, once.")
  private boolean now;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    ClusterPage page = new ClusterPage(server.client());
    PrintWriter out = spec.commandLine().getOut();
    if (now) {
      String done = page.change("{\"verb\":\"calendar\"}");
      done.lines().forEach(line -> out.println(ShownText.plain(line)));
    } else {
      Instant wall = Instant.ofEpochSecond(0, Ticker.wall().nanos());
      out.println(table(ClusterView.read(page.call()), wall));
    }
    out.flush();
    return 0;
  }

  private static HeadedTable table(ClusterView view, Instant now) {
    HeadedTable table = new HeadedTable("GROUP", "LEADER", "CALENDAR", "THIS MACHINE", "FOLLOWS");
    for (int group = 0; group < view.groups(); group++) {
      Replica leader = view.leader(group);
      if (leader == null) {
        table.add(String.valueOf(group), "", "", "", "");
      } else {
        table.add(
            String.valueOf(group),
            leader.member(),
            leader.calendar().toString(),
            ClusterTable.clock(leader.calendar(), now),
            leader.clockFault() ? "no" : "yes");
      }
    }
    return table;
  }
}
