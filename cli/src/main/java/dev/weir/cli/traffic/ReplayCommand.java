package dev.weir.cli.traffic;

import dev.weir.replay.Replay;
import dev.weir.replay.ReplayOptions;
import dev.weir.replay.ReplaySummary;
import dev.weir.traffic.TrafficException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "replay",
    mixinStandardHelpOptions = true,
    description = {
      "Replays recorded traffic through rules and shows which requests they would have"
          + " refused. Time is that of the records.",
      "",
      "For example, an access log by client address:",
      "",
      "  weir replay --rules rules.yaml --input access.log --domain site --descriptor 'ip={ip}'",
      ""
    })
public final class ReplayCommand extends TrafficCommand {
  @Option(
      names = "--rules",
      required = true,
      paramLabel = "FILE|DIR",
      description = "The rules. May be given several times.")
  private List<Path> rules = List.of();

  @Option(names = "--domain", required = true, description = "The domain whose rules decide.")
  private String domain = "";

  @Option(
      names = "--report",
      paramLabel = "OUT.html",
      description =
          "Write an HTML page to this file: which keys are refused, when, how"
              + " often, by which rule.")
  private @Nullable Path report;

  @Option(
      names = "--decisions",
      paramLabel = "OUT.csv",
      description = "Write one CSV row for each record to this file.")
  private @Nullable Path decisions;

  @Option(
      names = "--load",
      paramLabel = "'{column}'|N/1s",
      description =
          "The load for elastic rules: a column with shares such as 0.4 or 40%%, or the"
              + " request rate that counts as 100 %% load. Default: none; elastic rules are"
              + " then enforced.")
  private @Nullable String load;

  @Option(
      names = "--max-keys",
      paramLabel = "N",
      description = "Most keys counted at once. Default: as for 'weir serve'.")
  private @Nullable Long maxKeys;

  @Option(names = "--json", description = "Show the summary as one JSON object.")
  private boolean json;

  @Override
  List<String> run() throws IOException, TrafficException {
    ReplaySummary summary;
    try (ReplayBar bar = new ReplayBar("replay")) {
      summary = Replay.run(options(), bar);
    }
    show(json ? summary.json() : summary.text());
    err()
        .printf(
            Locale.ROOT,
            "%,d records in %.1f s (%,d records/s)%n",
            summary.counts().requests() + summary.counts().unreadable(),
            summary.timeTaken().toMillis() / 1000.0,
            summary.recordsPerSecond());
    if (summary.counts().requests() == 0 && !summary.stopped()) {
      throw nothingRead(summary.warnings());
    }
    return summary.warnings();
  }

  private ReplayOptions options() {
    ReplayOptions.Builder options =
        ReplayOptions.builder(flags().traffic(), domain)
            .decisions(decisions)
            .report(report)
            .load(load);
    rules.forEach(options::rules);
    if (maxKeys != null) {
      options.maxKeys(maxKeys);
    }
    return options.build();
  }
}
