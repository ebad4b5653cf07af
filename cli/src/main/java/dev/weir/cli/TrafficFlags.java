package dev.weir.cli;

import dev.weir.replay.Format;
import dev.weir.replay.Traffic;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags of all commands that read recorded traffic. */
final class TrafficFlags {
  @Option(
      names = "--input",
      required = true,
      arity = "1..*",
      paramLabel = "FILE",
      description =
          "The traffic, may be compressed with gzip or zstd; - reads standard input. Several are"
              + " read side by side, by time.")
  private List<String> inputs = List.of();

  @Option(
      names = "--descriptor",
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

  @Option(names = "--sort", description = "Sort the records by time first; holds them in memory.")
  private boolean sort;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  Traffic traffic() {
    Traffic.Builder traffic =
        Traffic.builder().format(format()).time(time).permits(permits).sort(sort);
    inputs.forEach(traffic::input);
    descriptors.forEach(traffic::descriptor);
    return traffic.build();
  }

  private Format format() {
    try {
      return Format.of(format);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--" + e.getMessage(), e);
    }
  }
}
