package dev.weir.cli.cluster;

import dev.weir.Ticker;
import dev.weir.cli.Providers;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.ServerFlags;
import dev.weir.cli.command.Version;
import dev.weir.cli.traffic.ReplayBar;
import dev.weir.rules.ShownText;
import dev.weir.server.ClusterBackups;
import dev.weir.traffic.Progress;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "backup",
    mixinStandardHelpOptions = true,
    description = {
      "Writes what a cluster counts into one file, while it goes on deciding.",
      "",
      "The file has the cluster's secret, and is readable by you alone. 'weir cluster restore' makes"
          + " a new cluster of it.",
      "",
      "Asked of a member on this machine.",
      ""
    })
final class ClusterBackupCommand implements Callable<Integer> {
  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  @Mixin private final ServerFlags server = new ServerFlags();

  @Option(
      names = "--to",
      required = true,
      paramLabel = "FILE|DIR",
      description =
          "A file that does not exist, or a folder, in which the file is named by the time.")
  private Path to = Path.of("");

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException, InterruptedException {
    ClusterPage page = new ClusterPage(server.client());
    Path file = to;
    if (Files.isDirectory(to)) {
      Instant now = Instant.ofEpochSecond(0, Ticker.wall().nanos());
      file = to.resolve("weir-cluster-" + NAME.format(now) + ".backup");
    }
    PrintWriter out = spec.commandLine().getOut();
    ClusterBackups backups = Providers.cluster().backups();
    ClusterBackups.Contents backup;
    try (ReplayBar bar = new ReplayBar("backup")) {
      backup =
          backups.take(
              file,
              page::backup,
              Version.number(),
              (group, groups, bytes, of) -> received(bar, group, groups, bytes, of));
    } catch (IOException e) {
      throw new CommandFailure("no backup was made: " + e.getMessage(), e);
    }
    for (ClusterBackups.Group each : backup.groups()) {
      out.printf(
          Locale.ROOT,
          "group %d: up to index %,d, at %s by its time, %,d bytes%n",
          each.number(),
          each.index(),
          each.time(),
          each.bytes());
    }
    out.printf(
        Locale.ROOT,
        "cluster %s is in %s; keep it as secret as the members' folders%n",
        backup.cluster(),
        ShownText.plain(file.toString()));
    out.flush();
    return 0;
  }

  private void received(Progress bar, int group, int groups, long bytes, long of) {
    if (of == 0) {
      spec.commandLine().getErr().println("group " + group + " of " + groups);
      spec.commandLine().getErr().flush();
    }
    bar.at(bytes, of, 0);
  }
}
