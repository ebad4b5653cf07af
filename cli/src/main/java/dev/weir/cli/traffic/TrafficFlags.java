package dev.weir.cli.traffic;

import dev.weir.internal.Choice;
import dev.weir.traffic.Format;
import dev.weir.traffic.TimeMeaning;
import dev.weir.traffic.Traffic;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags of all commands that read recorded traffic. */
final class TrafficFlags {
  @Option(
      names = "--input",
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
      paramLabel = "NAME",
      description =
          "Format of the traffic: ${COMPLETION-CANDIDATES}. IIS and CloudFront write w3c; layout"
              + " is that of --layout. Default: ${DEFAULT-VALUE}",
      completionCandidates = FormatNames.class)
  private String format = "auto";

  @Option(
      names = "--layout",
      paramLabel = "'LAYOUT'",
      description =
          "The order of the values in a line of another format, such as"
              + " 'ip - user [time] \"request\" status'.")
  private @Nullable String layout;

  @Option(
      names = "--time",
      paramLabel = "COLUMN",
      description = "The column with the time. Default: the first with a usual name.")
  private @Nullable String time;

  @Option(
      names = "--time-unit",
      paramLabel = "s|ms|us|ns",
      description =
          "What numbers in that column count since 1970. Default: the unit in which they are"
              + " years from 1990 to 2079; with none, an error asks.")
  private @Nullable String timeUnit;

  @Option(
      names = "--zone",
      paramLabel = "ZONE",
      description =
          "The zone of times that are written without one, such as Europe/Berlin or +02:00."
              + " Default: that of the text before the record; else UTC, which the output says.")
  private @Nullable String zone;

  @Option(
      names = "--trusted-proxies",
      paramLabel = "RANGE",
      split = ",",
      description =
          "Proxies, such as 10.0.0.0/8, that are passed over to find the client: the address of the"
              + " log, and then the list beside it from the right. Default: none; of a list the"
              + " first address counts.")
  private List<String> trustedProxies = new ArrayList<>();

  @Option(
      names = "--permits",
      paramLabel = "'{column}'|N",
      description = "Permits that a record asks for. Default: ${DEFAULT-VALUE}")
  private String permits = "1";

  @Option(
      names = "--duration",
      paramLabel = "COLUMN:UNIT",
      description =
          "The column with the time that a request took, and its unit s, ms, us or ns, for limits at"
              + " the same time. Default: the one that the format is known to have.")
  private @Nullable String duration;

  @Option(
      names = "--time-is",
      paramLabel = "begin|end",
      description =
          "Whether the time of a record is that of the request's begin or of its end. With"
              + " durations, requests count at their begin. Default: what the format is known to"
              + " log; else an error asks.")
  private @Nullable String timeIs;

  @Option(
      names = "--sort",
      description =
          "Sort the records by time first; what does not fit into memory is sorted in temporary"
              + " files.")
  private boolean sort;

  @Option(
      names = "--strict",
      description = "Exit with status 1 if there is any warning. The result is shown all the same.")
  private boolean strict;

  /** The names of all formats, for the help and for completion. */
  private static final class FormatNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Choice.texts(Format.class).iterator();
    }
  }

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  Traffic traffic() {
    Traffic.Builder traffic =
        Traffic.builder()
            .format(format())
            .layout(layout)
            .time(time)
            .trustedProxies(trustedProxies)
            .timeUnit(timeUnit())
            .zone(zone())
            .permits(permits)
            .sort(sort)
            .duration(duration)
            .timeIs(timeIs());
    if (inputs.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "--input: missing (expected: a file, or - for standard input)");
    }
    inputs.forEach(traffic::input);
    descriptors.forEach(traffic::descriptor);
    return traffic.build();
  }

  /** Adds files that are given without a flag. */
  void add(List<String> files) {
    inputs = Stream.concat(inputs.stream(), files.stream()).toList();
  }

  boolean strict() {
    return strict;
  }

  private @Nullable TimeUnit timeUnit() {
    try {
      return timeUnit == null ? null : Traffic.unit(timeUnit);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--" + e.getMessage(), e);
    }
  }

  private @Nullable ZoneId zone() {
    try {
      return zone == null ? null : Traffic.zone(zone);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--" + e.getMessage(), e);
    }
  }

  private @Nullable TimeMeaning timeIs() {
    try {
      return timeIs == null ? null : TimeMeaning.of(timeIs);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--" + e.getMessage(), e);
    }
  }

  private Format format() {
    try {
      return Format.of(format);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--" + e.getMessage(), e);
    }
  }
}
