package dev.weir.cli;

import dev.weir.replay.Format;
import dev.weir.replay.Generator;
import dev.weir.replay.GeneratorOptions;
import dev.weir.replay.ReplayException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
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
      "Makes traffic, to be replayed: the same flags give the same bytes. Kinds to be mixed:",
      "",
      "  poisson  ordinary clients at a constant rate",
      "  daily    the same, the rate following the day",
      "  bursts   some that are silent for long and then send many requests at once",
      "  scraper  one that fetches page after page, 192.0.2.66",
      "  stuffer  200 addresses that try passwords at /login, 198.51.100.*",
      "  herd     50 that all come back when a window resets, 203.0.113.*",
      "",
      "For example:",
      "",
      "  weir generate --duration 6h | weir compare --input - --limit 100/1m",
      ""
    })
final class GenerateCommand implements Callable<Integer> {
  @Option(
      names = "--traffic",
      split = ",",
      paramLabel = "KIND",
      description = "What it is made of. Default: all but poisson")
  private List<String> traffic = List.of();

  @Option(
      names = "--format",
      defaultValue = "combined",
      paramLabel = "combined|csv|tsv|jsonl",
      description = "How to write it. Default: ${DEFAULT-VALUE}")
  private String format = "combined";

  @Option(
      names = "--duration",
      defaultValue = "1h",
      description = "How long it lasts, for example 90s, 6h, 7d. Default: ${DEFAULT-VALUE}")
  private String duration = "1h";

  @Option(
      names = "--rate",
      defaultValue = "10",
      paramLabel = "N",
      description = "Requests a second of the ordinary clients. Default: ${DEFAULT-VALUE}")
  private double rate = 10;

  @Option(
      names = "--clients",
      defaultValue = "1000",
      paramLabel = "N",
      description = "How many ordinary clients there are. Default: ${DEFAULT-VALUE}")
  private int clients = 1000;

  @Option(
      names = "--skew",
      defaultValue = "1",
      paramLabel = "S",
      description =
          "The k-th of them asks 1/k^S as often as the first (Zipf's law). Default: ${DEFAULT-VALUE}")
  private double skew = 1;

  @Option(
      names = "--window",
      defaultValue = "1m",
      description = "The window whose reset the herd waits for. Default: ${DEFAULT-VALUE}")
  private String window = "1m";

  @Option(
      names = "--start",
      defaultValue = "2026-11-02T09:00:00Z",
      paramLabel = "TIME",
      description = "When it begins. Default: ${DEFAULT-VALUE}")
  private String start = "2026-11-02T09:00:00Z";

  @Option(
      names = "--requests",
      paramLabel = "N",
      description = "Stop after so many. Default: when the time is over")
  private long requests = Long.MAX_VALUE;

  @Option(names = "--seed", defaultValue = "1", description = "Default: ${DEFAULT-VALUE}")
  private long seed = 1;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "Where to write it. Default: standard output")
  private @Nullable Path output;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    GeneratorOptions options = options();
    Format as = format();
    try {
      Generator.check(options, as); // Before the output is opened, which loses what was in it.
      if (output == null) {
        // Not closed: it is the process's.
        Generator.write(options, as, new FileOutputStream(FileDescriptor.out));
      } else {
        try (OutputStream out = new FileOutputStream(output.toFile())) {
          Generator.write(options, as, out);
        }
      }
      return 0;
    } catch (ReplayException e) {
      return Main.refused(e, spec.commandLine().getErr());
    } catch (IOException e) {
      if (output == null && "Broken pipe".equals(e.getMessage())) {
        return 0; // Whoever reads it has seen enough.
      }
      throw new Failure(e.getMessage() == null ? e.toString() : e.getMessage(), e);
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
          DurationFlag.duration("duration", duration),
          rate,
          clients,
          skew,
          DurationFlag.duration("window", window),
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
