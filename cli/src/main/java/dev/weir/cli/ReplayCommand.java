package dev.weir.cli;

import dev.weir.replay.Format;
import dev.weir.replay.Replay;
import dev.weir.replay.ReplayException;
import dev.weir.replay.ReplayOptions;
import dev.weir.replay.ReplaySummary;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
    name = "replay",
    mixinStandardHelpOptions = true,
    description = {
      "Runs recorded traffic through rules on its own time, and tells what they would have done.",
      "",
      "For example, an access log by client address:",
      "",
      "  weir replay --rules rules.yaml --input access.log --domain site --descriptor 'ip={ip}'",
      ""
    })
final class ReplayCommand implements Callable<Integer> {
  @Option(
      names = "--rules",
      required = true,
      paramLabel = "FILE|DIR",
      description = "The rules. May be given several times.")
  private List<Path> rules = List.of();

  @Option(
      names = "--input",
      required = true,
      paramLabel = "FILE",
      description = "The traffic, may be gzipped; - reads standard input.")
  private String input = "";

  @Option(names = "--domain", required = true, description = "The domain whose rules decide.")
  private String domain = "";

  @Option(
      names = "--descriptor",
      required = true,
      paramLabel = "'k={column}'",
      description =
          "What a record is to the rules: k={column}[,k2={column2}], text outside braces literal."
              + " Several: each record is one request with all of them.")
  private List<String> descriptors = List.of();

  @Option(
      names = "--format",
      defaultValue = "auto",
      paramLabel = "auto|combined|csv|tsv|jsonl",
      description = "How the traffic is written. Default: ${DEFAULT-VALUE}")
  private String format = "auto";

  @Option(
      names = "--time",
      paramLabel = "COLUMN",
      description = "The column with the time. Default: one with a usual name.")
  private @Nullable String time;

  @Option(
      names = "--permits",
      defaultValue = "1",
      paramLabel = "'{column}'|N",
      description = "What a record costs. Default: ${DEFAULT-VALUE}")
  private String permits = "1";

  @Option(
      names = "--decisions",
      paramLabel = "OUT.csv",
      description = "Write one row for each record to this file.")
  private @Nullable Path decisions;

  @Option(names = "--sort", description = "Sort the records by time first; holds them in memory.")
  private boolean sort;

  @Option(
      names = "--max-keys",
      paramLabel = "N",
      description = "Most keys that are counted at once. Default: as 'weir serve'.")
  private @Nullable Long maxKeys;

  @Option(names = "--json", description = "Show the summary as one JSON object.")
  private boolean json;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    ReplayOptions options = options();
    PrintWriter err = spec.commandLine().getErr();
    try {
      ReplaySummary summary;
      try (ReplayBar bar = new ReplayBar()) {
        summary = Replay.run(options, bar);
      }
      summary.warnings().forEach(warning -> err.println("weir: " + warning));
      PrintWriter out = spec.commandLine().getOut();
      out.print(json ? summary.json() : summary.text());
      out.flush();
      err.printf(
          Locale.ROOT,
          "%,d records in %.1f s (%,d records/s)%n",
          summary.counts().requests() + summary.counts().unreadable(),
          summary.timeTaken().toMillis() / 1000.0,
          summary.recordsPerSecond());
      return 0;
    } catch (ReplayException e) {
      e.problems().forEach(problem -> err.println("weir: " + problem));
      return Main.USAGE;
    } catch (IOException e) {
      throw new Failure(e.getMessage() == null ? e.toString() : e.getMessage(), e);
    }
  }

  private ReplayOptions options() {
    ReplayOptions.Builder options =
        ReplayOptions.builder(input, domain)
            .format(format())
            .time(time)
            .permits(permits)
            .decisions(decisions)
            .sort(sort);
    rules.forEach(options::rules);
    descriptors.forEach(options::descriptor);
    if (maxKeys != null) {
      options.maxKeys(maxKeys);
    }
    return options.build();
  }

  private Format format() {
    try {
      return Format.of(format);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--" + e.getMessage(), e);
    }
  }
}
