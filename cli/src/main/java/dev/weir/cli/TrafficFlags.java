package dev.weir.cli;

import dev.weir.traffic.Format;
import dev.weir.traffic.Traffic;
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
          "The traffic, plain or compressed with gzip or zstd; - reads standard input."
              + " Several files are merged by time.")
  private List<String> inputs = List.of();

  @Option(
      names = "--descriptor",
      paramLabel = "'k={column}'",
      description =
          "The descriptor made from a record: k={column}[,k2={column2}]; text outside"
              + " braces is literal. May be given several times: each record is one request"
              + " with all of them.")
  private List<String> descriptors = List.of();

  @Option(
      names = "--format",
      defaultValue = "auto",
      paramLabel = "auto|combined|csv|tsv|jsonl",
      description = "Format of the traffic. Default: ${DEFAULT-VALUE}")
  private String format = "auto";

  @Option(
      names = "--time",
      paramLabel = "COLUMN",
      description = "The column with the time. Default: the first with a usual name.")
  private @Nullable String time;

  @Option(
      names = "--permits",
      defaultValue = "1",
      paramLabel = "'{column}'|N",
      description = "Permits that a record asks for. Default: ${DEFAULT-VALUE}")
  private String permits = "1";

  @Option(
      names = "--sort",
      description = "Sort the records by time first; all records" + " are held in memory.")
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
