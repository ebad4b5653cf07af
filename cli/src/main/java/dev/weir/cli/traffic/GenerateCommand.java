package dev.weir.cli.traffic;

import dev.weir.cli.Main;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.FlagValues;
import dev.weir.cli.command.StandardOutput;
import dev.weir.internal.IoCauses;
import dev.weir.traffic.Format;
import dev.weir.traffic.Generator;
import dev.weir.traffic.GeneratorOptions;
import dev.weir.traffic.TrafficException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
    name = "generate",
    mixinStandardHelpOptions = true,
    description = {
      "Generates traffic to replay; the same flags give the same bytes. Kinds of traffic:",
      "",
      "  poisson  ordinary clients at a constant rate",
      "  daily    the same, the rate following the day",
      "  bursts   clients that are silent for long and then send many requests at once",
      "  scraper  one client that fetches page after page, 192.0.2.66",
      "  stuffer  200 addresses that try passwords at /login, 198.51.100.*",
      "  herd     50 clients that all come back when a window resets, 203.0.113.*",
      "",
      "For example:",
      "",
      "  weir generate --duration 6h | weir compare --input - --limit 100/1m",
      ""
    })
public final class GenerateCommand implements Callable<Integer> {
  @Option(
      names = "--traffic",
      split = ",",
      paramLabel = "KIND",
      description = "Kinds to mix. Default: all but poisson")
  private List<String> traffic = List.of();

  @Option(
      names = "--format",
      paramLabel = "combined|csv|tsv|jsonl",
      description = "Format to write. Default: ${DEFAULT-VALUE}")
  private String format = "combined";

  @Option(
      names = "--duration",
      description = "Length of the traffic, for example 90s, 6h, 7d. Default: ${DEFAULT-VALUE}")
  private String duration = "1h";

  @Option(
      names = "--rate",
      defaultValue = "10",
      paramLabel = "N",
      description =
          "Requests per second of all ordinary clients together. Default:" + " ${DEFAULT-VALUE}")
  private double rate;

  @Option(
      names = "--clients",
      paramLabel = "N",
      description = "Number of ordinary clients. Default: ${DEFAULT-VALUE}")
  private int clients = 1000;

  @Option(
      names = "--skew",
      defaultValue = "1",
      paramLabel = "S",
      description =
          "The k-th ordinary client sends 1/k^S as many requests as the first (Zipf's"
              + " law). Default: ${DEFAULT-VALUE}")
  private double skew;

  @Option(
      names = "--window",
      description = "The window whose reset the herd waits for. Default: ${DEFAULT-VALUE}")
  private String window = "1m";

  @Option(
      names = "--start",
      paramLabel = "TIME",
      description = "Time of the first request. Default: ${DEFAULT-VALUE}")
  private String start = "2026-11-02T09:00:00Z";

  @Option(
      names = "--requests",
      paramLabel = "N",
      description = "Stop after this many requests. Default: at the end of --duration")
  private long requests = Long.MAX_VALUE;

  @Option(
      names = "--seed",
      description = "Seed of the random draws." + " Default: ${DEFAULT-VALUE}")
  private long seed = 1;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "File to write. Default: standard output")
  private @Nullable Path output;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    GeneratorOptions options = options();
    Format as = format();
    try {
      Generator.check(options, as); // Opening truncates the output: check before.
      if (output == null) {
        standard(options, as);
      } else {
        try (OutputStream out = new FileOutputStream(output.toFile())) {
          Generator.write(options, as, out);
        }
      }
      return 0;
    } catch (TrafficException e) {
      return Main.refused(e, spec.commandLine().getErr());
    } catch (IOException e) {
      throw new CommandFailure("--output: " + IoCauses.file(Objects.requireNonNull(output), e), e);
    }
  }

  private static void standard(GeneratorOptions options, Format as) throws TrafficException {
    try {
      // The stream is not closed: standard output belongs to the process.
      Generator.write(options, as, StandardOutput.ofProcess());
    } catch (IOException e) {
      if (!StandardOutput.isWithoutReader(e)) {
        throw StandardOutput.lost(e);
      }
    }
  }

  private GeneratorOptions options() {
    Set<GeneratorOptions.Kind> kinds = new LinkedHashSet<>();
    try {
      traffic.forEach(each -> kinds.add(GeneratorOptions.Kind.of(each)));
      return new GeneratorOptions(
          kinds.isEmpty() ? GeneratorOptions.DEFAULTS.traffic() : kinds,
          seed,
          instant(),
          FlagValues.window("duration", duration),
          rate,
          clients,
          skew,
          FlagValues.window("window", window),
          requests);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--" + e.getMessage(), e);
    }
  }

  private Instant instant() {
    try {
      return Instant.parse(start);
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "start: " + start + " (expected: a time in UTC such as 2026-11-02T09:00:00Z)", e);
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
