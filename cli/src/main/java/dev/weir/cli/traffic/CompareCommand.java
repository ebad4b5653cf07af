package dev.weir.cli.traffic;

import dev.weir.Quota;
import dev.weir.cli.command.FlagValues;
import dev.weir.replay.Compare;
import dev.weir.replay.Comparison;
import dev.weir.traffic.TrafficException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    description = {
      "Replays recorded traffic through every algorithm and shows the results side by side.",
      "",
      "Without --descriptor, the key is the first column with a usual name (ip, user,"
          + " host, key, ...).",
      "For example:",
      "",
      "  weir compare --input access.log --limit 100/1m --report compare.html",
      ""
    })
public final class CompareCommand extends TrafficCommand {
  @Option(
      names = "--limit",
      required = true,
      paramLabel = "N/WINDOW",
      description = "Permits per window and key, for example 100/1m.")
  private String limit = "";

  @Option(
      names = "--key",
      paramLabel = "k=value",
      description =
          "Key whose requests to plot. Default: the key on which the algorithms" + " differ most.")
  private @Nullable String key;

  @Option(
      names = "--report",
      paramLabel = "OUT.html",
      description = "Write an HTML page with a plot of one key to this file.")
  private @Nullable Path report;

  @Option(names = "--json", description = "Show the result as one JSON object.")
  private boolean json;

  @Override
  List<String> run() throws IOException, TrafficException {
    Quota quota = quota();
    Comparison comparison;
    try (ReplayBar bar = new ReplayBar("compare")) {
      comparison = Compare.run(flags().traffic(), quota, key, report, bar);
    }
    show(json ? comparison.json() : comparison.text());
    return comparison.warnings();
  }

  private Quota quota() {
    int slash = limit.indexOf('/');
    try {
      long permits = Long.parseLong(limit.substring(0, Math.max(0, slash)));
      return Quota.of(permits, FlagValues.window("window", limit.substring(slash + 1)));
    } catch (NumberFormatException e) {
      throw new ParameterException(
          spec().commandLine(), "--limit: " + limit + " (expected: N/WINDOW, such as 100/1m)", e);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec().commandLine(), "--limit: " + e.getMessage(), e);
    }
  }
}
