package dev.weir.cli.traffic;

import dev.weir.Algorithm;
import dev.weir.cli.command.FlagValues;
import dev.weir.replay.LimitSuggestions;
import dev.weir.replay.Suggestions;
import dev.weir.rules.ShareText;
import dev.weir.traffic.TrafficException;
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
      "Finds the smallest limits that refuse at most a given share of recorded requests"
          + " and of keys.",
      "",
      "Without --descriptor, the key is the first column with a usual name (ip, user,"
          + " host, key, ...).",
      "For example:",
      "",
      "  weir suggest --input access.log --refuse-at-most 0.1%%",
      ""
    })
public final class SuggestCommand extends TrafficCommand {
  @Option(
      names = "--refuse-at-most",
      paramLabel = "SHARE",
      description =
          "Largest share of requests, and of keys, that may be refused, for"
              + " example 0.1%%. Default: ${DEFAULT-VALUE}")
  private String refuseAtMost = "0.1%";

  @Option(
      names = "--window",
      split = ",",
      defaultValue = "1s,10s,1m,10m,1h",
      paramLabel = "WINDOW",
      description = "Windows to find a limit for. Default: ${DEFAULT-VALUE}")
  private List<String> windows = List.of();

  @Option(
      names = "--algorithm",
      paramLabel = "NAME",
      description = "Algorithm of the limits. Default: ${DEFAULT-VALUE}")
  private String algorithm = "sliding-window";

  @Option(
      names = "--headroom",
      paramLabel = "SHARE",
      description =
          "How much the suggested limit is above the smallest one, for example 20%%. Default:"
              + " ${DEFAULT-VALUE}")
  private String headroom = "0%";

  @Option(
      names = "--ignore-top",
      paramLabel = "N",
      description =
          "Leave out the N keys that asked for the most, for example scrapers that the limit is to"
              + " stop. Default: ${DEFAULT-VALUE}")
  private int ignoreTop;

  @Option(
      names = "--domain",
      description = "Domain in the suggested rules. Default: ${DEFAULT-VALUE}")
  private String domain = "site";

  @Option(
      names = "--report",
      paramLabel = "OUT.html",
      description = "Write an HTML page with curves of refused requests by limit to this file.")
  private @Nullable Path report;

  @Option(names = "--json", description = "Show the result as one JSON object.")
  private boolean json;

  @Override
  List<String> run() throws IOException, TrafficException {
    LimitSuggestions.Options options = options();
    Suggestions suggestion;
    try (ReplayBar bar = new ReplayBar("suggest")) {
      suggestion = LimitSuggestions.runEach(flags().traffic(), options, report, bar);
    }
    show(json ? suggestion.json() : suggestion.text());
    return suggestion.warnings();
  }

  private LimitSuggestions.Options options() {
    try {
      return new LimitSuggestions.Options(
          windows.stream().map(each -> FlagValues.window("window", each)).toList(),
          ShareText.read("--refuse-at-most", refuseAtMost) / (double) ShareText.WHOLE,
          Algorithm.of(algorithm),
          domain,
          ShareText.read("--headroom", headroom) / (double) ShareText.WHOLE,
          ignoreTop);
    } catch (IllegalArgumentException e) {
      String message = String.valueOf(e.getMessage());
      throw new ParameterException(
          spec().commandLine(), message.startsWith("--") ? message : "--" + message, e);
    }
  }
}
