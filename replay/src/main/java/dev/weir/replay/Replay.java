package dev.weir.replay;

import dev.weir.Ticker;
import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Recorded traffic through rules on virtual time: what would these rules have done to it?
 *
 * <p>The time is the records' own, to the nanosecond where they give that; nothing depends on the
 * machine's clock. A record earlier than one before it is decided at the latest time seen so far,
 * as a server's clock would have it, and counted as out of order.
 */
public final class Replay {
  private Replay() {}

  /**
   * Replays an input.
   *
   * @param progress hears how far it is
   * @throws ReplayException if the options, the rules or the input are such that nothing can be
   *     replayed; says everything that is wrong
   * @throws IOException if reading the input or writing the decisions fails
   */
  public static ReplaySummary run(ReplayOptions options, Progress progress)
      throws IOException, ReplayException {
    return run(options, progress, System.in);
  }

  static ReplaySummary run(ReplayOptions options, Progress progress, InputStream standardInput)
      throws IOException, ReplayException {
    Ticker clock = Ticker.system();
    long startNanos = clock.nanos();
    Plan plan = plan(options);
    try (Input input = Input.open(options.input(), standardInput)) {
      Lines lines = Lines.of(input.text());
      Format format =
          options.format() == Format.AUTO
              ? Detection.format(input.name(), lines.head())
              : options.format();
      RecordReader reader = reader(format, lines);
      Detection.TimeColumn time = columns(options, plan.template, reader);
      try (DecisionsWriter decisions = decisions(options)) {
        Tally tally = new Tally(plan.rules, options.domain());
        try (Run run = new Run(plan.rules, options.maxKeys(), tally, decisions)) {
          RecordLoop loop = new RecordLoop(reader, plan.template, time.unit(), tally);
          loop.run(run, options.sort(), records -> report(progress, input, records));
        }
        report(progress, input, tally.records());
        ReplaySummary.Source source = new ReplaySummary.Source(format, time.name());
        Duration taken = Duration.ofNanos(clock.nanos() - startNanos);
        return tally.summary(source, plan.warnings, taken);
      }
    }
  }

  private static void report(Progress progress, Input input, long records) {
    progress.at(input.bytesRead(), input.totalBytes(), records);
  }

  /** What is known before the input is opened. */
  private record Plan(RuleSet rules, RequestTemplate template, List<String> warnings) {}

  private static Plan plan(ReplayOptions options) throws ReplayException {
    List<String> problems = new ArrayList<>();
    List<String> found = new ArrayList<>();
    RuleSet rules = rules(options, found);
    RequestTemplate template = null;
    try {
      template = RequestTemplate.of(options.domain(), options.descriptors(), options.permits());
    } catch (ReplayException e) {
      problems.addAll(e.problems());
    }
    if (rules == null) {
      problems.addAll(found);
    } else if (!rules.hasDomain(options.domain())) {
      problems.add(
          "domain: "
              + Shown.quoted(options.domain())
              + " (expected: one in the rules: "
              + Detection.listed(List.copyOf(rules.domains()))
              + ")");
    }
    if (options.maxKeys() < 1) {
      problems.add("maxKeys: " + options.maxKeys() + " (expected: at least 1)");
    }
    overwritten(options, problems);
    if (rules == null || template == null || !problems.isEmpty()) {
      throw new ReplayException(problems);
    }
    return new Plan(rules, template, found);
  }

  private static @Nullable RuleSet rules(ReplayOptions options, List<String> found) {
    if (options.rules().isEmpty()) {
      found.add("rules: none (expected: at least one file or folder)");
      return null;
    }
    Rules.Loaded loaded = Rules.load(options.rules());
    loaded.problems().stream().map(Problem::toString).forEach(found::add);
    return loaded.ruleSet();
  }

  /** Nobody wants to lose a log for a slip of the pen. */
  private static void overwritten(ReplayOptions options, List<String> problems)
      throws ReplayException {
    Path target = options.decisions();
    if (target == null || !Files.exists(target)) {
      return;
    }
    if (Files.isDirectory(target)) {
      problems.add("decisions: " + target + " (expected: a file, not a folder)");
    }
    List<Path> sources = new ArrayList<>(options.rules());
    if (!options.input().equals(Input.STANDARD)) {
      sources.add(Input.path("input", options.input()));
    }
    for (Path source : sources) {
      if (same(source, target)) {
        problems.add("decisions: " + target + " (expected: not what is read)");
      }
    }
  }

  private static boolean same(Path a, Path b) {
    try {
      return Files.exists(a) && Files.isSameFile(a, b);
    } catch (IOException e) {
      return true; // Doubt keeps the file.
    }
  }

  private static RecordReader reader(Format format, Lines lines)
      throws IOException, ReplayException {
    return switch (format) {
      case COMBINED -> new CombinedReader(lines);
      case CSV -> DelimitedReader.csv(lines);
      case TSV -> DelimitedReader.tsv(lines);
      case JSONL -> new JsonLinesReader(lines);
      case AUTO -> throw new IllegalArgumentException("format: auto (expected: a format)");
    };
  }

  /** Binds the columns and returns the one with the time, which goes to slot 0. */
  private static Detection.TimeColumn columns(
      ReplayOptions options, RequestTemplate template, RecordReader reader) throws ReplayException {
    List<String> problems = new ArrayList<>();
    Set<String> wanted = new LinkedHashSet<>();
    Detection.TimeColumn time = new Detection.TimeColumn("", TimeReader.Unit.BY_SIZE);
    try {
      time = Detection.timeColumn(options.time(), reader);
      wanted.add(time.name());
    } catch (ReplayException e) {
      problems.addAll(e.problems());
    }
    wanted.addAll(template.columns());
    List<String> columns = List.copyOf(wanted);
    for (String column : columns) {
      if (!reader.has(column)) {
        problems.add(
            "column "
                + Shown.quoted(column)
                + ": unknown (expected: one of "
                + Detection.listed(reader.columns())
                + ")");
      }
    }
    if (!problems.isEmpty()) {
      throw new ReplayException(problems);
    }
    reader.want(columns);
    template.bind(columns);
    return time;
  }

  private static @Nullable DecisionsWriter decisions(ReplayOptions options) throws IOException {
    Path file = options.decisions();
    if (file == null) {
      return null;
    }
    OutputStream out = Files.newOutputStream(file);
    try {
      return new DecisionsWriter(out);
    } catch (IOException e) {
      out.close();
      throw e;
    }
  }
}
