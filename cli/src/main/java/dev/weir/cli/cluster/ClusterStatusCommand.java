package dev.weir.cli.cluster;

import dev.weir.Ticker;
import dev.weir.cli.Main;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.FlagValues;
import dev.weir.cli.command.ServerFlags;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
    name = "status",
    mixinStandardHelpOptions = true,
    description = {
      "Shows how a cluster is, as one of its members says, which asks all the others.",
      "",
      "Exit status: 0 if it is healthy, 1 if it is degraded (every key is answered, but a member is"
          + " down, lags or has diverged, or a group is changing its voters), 2 if some keys are"
          + " not answered, or the member that was asked is not there.",
      ""
    })
final class ClusterStatusCommand implements Callable<Integer> {
  private static final long PAUSE_NANOS = 250_000_000L;

  @Mixin private final ServerFlags server = new ServerFlags();

  @Option(names = "--json", description = "Show the answer of the member as it is.")
  private boolean json;

  @Option(
      names = "--wait-healthy",
      paramLabel = "TIME",
      description = "Ask until the cluster is healthy, but for no longer than this, such as 30s.")
  private @Nullable String waitHealthy;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    long waitNanos = waitNanos();
    ClusterPage page = new ClusterPage(server.client());
    Ticker ticker = Ticker.system();
    long begin = ticker.nanos();
    while (true) {
      boolean last = ticker.nanos() - begin >= waitNanos;
      try {
        String answer = page.call();
        ClusterView view = ClusterView.read(answer);
        if (last || view.health() == ClusterView.Health.HEALTHY) {
          show(answer, view);
          return status(view.health());
        }
      } catch (CommandFailure e) {
        if (last || e.status() != ClusterPage.UNANSWERED) {
          throw e;
        }
      }
      ticker.sleep(PAUSE_NANOS);
    }
  }

  private long waitNanos() {
    try {
      return waitHealthy == null ? 0 : FlagValues.durationNanos("--wait-healthy", waitHealthy, 0);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private void show(String answer, ClusterView view) {
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(answer.strip());
    } else {
      out.println(ClusterTable.of(view, Instant.ofEpochSecond(0, Ticker.wall().nanos())));
    }
    out.flush();
  }

  private static int status(ClusterView.Health health) {
    return switch (health) {
      case HEALTHY -> 0;
      case DEGRADED -> Main.FOUND;
      case UNANSWERED -> ClusterPage.UNANSWERED;
    };
  }
}
