package dev.weir.cli.cluster;

import dev.weir.Ticker;
import dev.weir.cli.Main;
import dev.weir.cli.command.ServerFlags;
import dev.weir.rules.ShownText;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

@Command(
    name = "verify",
    mixinStandardHelpOptions = true,
    description = {
      "Says whether all replicas of a cluster have come to the same counts.",
      "",
      "Each replica folds its answers into a sum. The sums of one place in the log are compared;"
          + " members reach it at different moments, so this takes up to 10 s.",
      "",
      "Exit status: 0 if all replicas have the same sums, 1 if some differ or a member is down, 2"
          + " if the member that was asked is not there.",
      ""
    })
final class ClusterVerifyCommand implements Callable<Integer> {
  private static final long PAUSE_NANOS = 200_000_000L;
  private static final long LONGEST_NANOS = 10_000_000_000L;

  @Mixin private final ServerFlags server = new ServerFlags();

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    ClusterPage page = new ClusterPage(server.client());
    ClusterSums sums = new ClusterSums();
    Ticker ticker = Ticker.system();
    long begin = ticker.nanos();
    while (true) {
      sums.add(ClusterView.read(page.call()));
      if (sums.complete() || ticker.nanos() - begin >= LONGEST_NANOS) {
        PrintWriter out = spec.commandLine().getOut();
        sums.lines().forEach(line -> out.println(ShownText.plain(line)));
        out.flush();
        return sums.same() ? 0 : Main.FOUND;
      }
      ticker.sleep(PAUSE_NANOS);
    }
  }
}
