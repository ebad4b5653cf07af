package dev.weir.cli;

import dev.weir.Algorithm;
import dev.weir.replay.ReplayException;
import dev.weir.replay.Suggest;
import dev.weir.replay.Suggestion;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

@Command(
    name = "suggest",
    mixinStandardHelpOptions = true,
    description = {
      "Finds the smallest limits that refuse at most a share of recorded requests and of keys.",
      "",
      "Without --descriptor, a column with a usual name (ip, user, host, key, ...) is the key.",
      "For example:",
      "",
      "  weir suggest --input access.log --refuse-at-most 0.1%%",
      ""
    })
final class SuggestCommand extends TrafficCommand {
  @Option(
      names = "--refuse-at-most",
      defaultValue = "0.1%",
      paramLabel = "SHARE",
      description = "Of requests, and of keys, for example 0.1%%. Default: ${DEFAULT-VALUE}")
  private String refuseAtMost = "0.1%";

  @Option(
      names = "--window",
      split = ",",
      defaultValue = "1s,10s,1m,10m,1h",
      paramLabel = "WINDOW",
      description = "For which windows. Default: ${DEFAULT-VALUE}")
  private List<String> windows = List.of();

  @Option(
      names = "--algorithm",
      defaultValue = "sliding-window",
      paramLabel = "NAME",
      description = "Default: ${DEFAULT-VALUE}")
  private String algorithm = "sliding-window";

  @Option(
      names = "--domain",
      defaultValue = "site",
      description = "The domain of the rules to paste. Default: ${DEFAULT-VALUE}")
  private String domain = "site";

  @Option(
      names = "--report",
      paramLabel = "OUT.html",
      description = "Write a page to this file, with the curves.")
  private @Nullable Path report;

  @Option(names = "--json", description = "Show the result as one JSON object.")
  private boolean json;

  @Override
  void run() throws IOException, ReplayException {
    Suggest.Options options = options();
    Suggestion suggestion;
    try (ReplayBar bar = new ReplayBar("suggest")) {
      suggestion = Suggest.run(flags().traffic(), options, report, bar);
    }
    show(json ? suggestion.json() : suggestion.text());
  }

  private Suggest.Options options() {
    try {
      return new Suggest.Options(
          windows.stream().map(each -> DurationFlag.duration("window", each)).toList(),
          BenchFlags.share("--refuse-at-most", refuseAtMost),
          Algorithm.of(algorithm),
          domain);
    } catch (IllegalArgumentException e) {
      String message = String.valueOf(e.getMessage());
      throw new ParameterException(
          spec().commandLine(), message.startsWith("--") ? message : "--" + message, e);
    }
  }
}
