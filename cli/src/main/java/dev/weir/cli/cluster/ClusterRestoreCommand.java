package dev.weir.cli.cluster;

import dev.weir.cli.Providers;
import dev.weir.cli.command.CommandFailure;
import dev.weir.server.ClusterBackups;
import dev.weir.shared.ClusterMember;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
    name = "restore",
    mixinStandardHelpOptions = true,
    description = {
      "Makes the folder of the first member of a new cluster of a backup.",
      "",
      "The others join it with empty folders. All members of the old cluster have to be stopped"
          + " before: what they still decide is not known to the new one.",
      "",
      "What was admitted after the backup nobody knows. So every key is refused until its window has"
          + " passed, or its bucket has refilled, unless --trust-backup is given.",
      ""
    })
final class ClusterRestoreCommand implements Callable<Integer> {
  private static final Pattern ADDRESS = Pattern.compile("([^\\s,=]+):(\\d{1,5})");
  private static final Pattern MEMBER = Pattern.compile("[A-Za-z0-9._:-]{1,100}");
  private static final int MOST_PORT = 65_535;

  @Option(
      names = "--from",
      required = true,
      paramLabel = "FILE",
      description = "What 'weir cluster backup' wrote.")
  private Path from = Path.of("");

  @Option(
      names = "--cluster-dir",
      required = true,
      paramLabel = "DIR",
      description = "The folder to make: one that does not exist, or an empty one.")
  private Path folder = Path.of("");

  @Option(
      names = "--cluster-name",
      required = true,
      paramLabel = "NAME",
      description = "The member that it is for.")
  private String name = "";

  @Option(
      names = "--cluster-advertise",
      required = true,
      paramLabel = "HOST:PORT",
      description = "Where the other members reach it.")
  private String address = "";

  @Option(
      names = "--cluster-zone",
      paramLabel = "ZONE",
      description = "What fails together with it.")
  private String zone = "";

  @Option(
      names = "--trust-backup",
      description =
          "Go on with what keys had used when the backup was made: what was admitted after that is"
              + " admitted once more.")
  private boolean trust;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    ClusterMember self = self();
    ClusterBackups backups = Providers.cluster().backups();
    ClusterBackups.RestoredCluster restored;
    try {
      restored = backups.restore(from, folder, self, zone, trust);
    } catch (IOException e) {
      throw new CommandFailure("nothing was restored: " + e.getMessage(), e);
    }
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        Locale.ROOT,
        "cluster %s of %s, from the backup of cluster %s at %s%n",
        restored.cluster(),
        name,
        restored.from().cluster(),
        restored.from().taken());
    for (ClusterBackups.Group each : restored.from().groups()) {
      out.printf(Locale.ROOT, "group %d: begins after index %,d%n", each.number(), each.index());
    }
    out.println(
        trust
            ? "The backup is trusted: keys have what they had used then, and what was admitted after"
                + " it is admitted once more."
            : "Every key is refused until its window has passed after the first start of "
                + name
                + ", or its bucket has refilled; --trust-backup would admit at once, and more than"
                + " limits allow.");
    out.println(
        "Next: stop all members of the old cluster, and empty their folders; start "
            + name
            + " with this folder; then start the others with empty ones, and "
            + name
            + " in their --cluster.");
    out.flush();
    return 0;
  }

  private ClusterMember self() {
    Matcher parts = ADDRESS.matcher(address);
    int port = parts.matches() ? Integer.parseInt(parts.group(2)) : 0;
    if (port < 1 || port > MOST_PORT) {
      throw wrong("--cluster-advertise: " + address + " (expected: HOST:PORT)");
    }
    if (!MEMBER.matcher(name).matches()) {
      throw wrong("--cluster-name: " + name + " (expected: the name of a member)");
    }
    if (!zone.isEmpty() && !MEMBER.matcher(zone).matches()) {
      throw wrong("--cluster-zone: " + zone + " (expected: the name of a zone)");
    }
    return new ClusterMember(name, parts.group(1), port);
  }

  private ParameterException wrong(String problem) {
    return new ParameterException(spec.commandLine(), problem);
  }
}
