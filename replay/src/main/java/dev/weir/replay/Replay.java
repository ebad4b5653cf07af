package dev.weir.replay;

import dev.weir.Algorithm;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Ticker;
import dev.weir.engine.KeyPolicies;
import dev.weir.internal.IoCauses;
import dev.weir.replay.internal.judge.History;
import dev.weir.replay.internal.judge.Run;
import dev.weir.replay.internal.judge.RunRules;
import dev.weir.replay.internal.judge.Target;
import dev.weir.replay.internal.judge.Warnings;
import dev.weir.replay.internal.pages.DecisionsWriter;
import dev.weir.replay.internal.pages.Page;
import dev.weir.replay.internal.pages.ReportPage;
import dev.weir.replay.internal.recorded.RecordedLoad;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.traffic.Progress;
import dev.weir.traffic.RequestTemplate;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.TrafficReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A replay of recorded traffic through rules on virtual time. It answers the question: what would
 * these rules have done to this traffic?
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
   * <p>An interrupt of the thread ends the reading; the summary then covers what was read, and the
   * interrupt is cleared.
   *
   * @param progress receives the progress
   * @throws TrafficException if nothing can be replayed with the options, the rules or the input;
   *     its message lists all problems
   * @throws IOException if reading the input or writing the decisions fails
   */
  public static ReplaySummary run(ReplayOptions options, Progress progress)
      throws IOException, TrafficException {
    return run(options, progress, TrafficReader.standardInput());
  }

  static ReplaySummary run(ReplayOptions options, Progress progress, InputStream standardInput)
      throws IOException, TrafficException {
    Ticker clock = Ticker.system();
    long startNanos = clock.nanos();
    Plan plan = plan(options);
    try (TrafficReader reader =
            plan.seats
                ? TrafficReader.openTimed(options.traffic(), plan.template, standardInput)
                : TrafficReader.open(options.traffic(), plan.template, standardInput);
        DecisionsWriter decisions = decisions(options, plan.queues)) {
      History history = options.report() == null ? null : new History();
      ReplayTally tally = new ReplayTally(plan.rules, options.domain(), history);
      RunRules.Pace pace =
          plan.seats && reader.durations() != null
              ? RunRules.Pace.TIMED
              : plan.queues ? RunRules.Pace.EACH : RunRules.Pace.TOGETHER;
      try (Run run = run(plan, options, pace, tally, decisions)) {
        reader.each(run::take, tally::unreadable, progress);
        run.finish();
      }
      ReplaySummary.Source source = ReplaySummary.Source.of(reader);
      Duration taken = Duration.ofNanos(clock.nanos() - startNanos);
      List<String> warnings = new ArrayList<>(plan.warnings);
      warnings.addAll(reader.warnings());
      ReplaySummary summary = tally.summary(source, reader.stopped(), warnings, taken);
      summary =
          summary.with(
              Warnings.of(summary, plan.rules, options, tally.matched(), reader.noDurations()));
      Path report = options.report();
      if (report != null && history != null) {
        Page.write(report, ReportPage.of(options, summary, history, plan.texts));
      }
      return summary;
    }
  }

  private static Run run(
      Plan plan,
      ReplayOptions options,
      RunRules.Pace pace,
      ReplayTally tally,
      @Nullable DecisionsWriter decisions) {
    RunRules rules = new RunRules(plan.rules, new MemoryStore(options.maxKeys()), KeyPolicies.NONE);
    return rules.run(options.traffic().inputs(), pace, plan.load, tally, decisions);
  }

  /**
   * The plan of a replay, made before the input is opened.
   *
   * @param queues true if any rule of the domain lets requests wait
   * @param seats true if any rule of the domain is a limit at the same time
   */
  private record Plan(
      RuleSet rules,
      boolean queues,
      boolean seats,
      RequestTemplate template,
      RecordedLoad load,
      List<String> warnings,
      Map<String, String> texts) {}

  private static Plan plan(ReplayOptions options) throws TrafficException {
    List<String> problems = new ArrayList<>();
    List<String> found = new ArrayList<>();
    RuleSet rules = rules(options, found);
    RequestTemplate template = null;
    RecordedLoad load = RecordedLoad.UNKNOWN;
    try {
      load = RecordedLoad.of(options.load());
    } catch (TrafficException e) {
      problems.addAll(e.problems());
    }
    try {
      template =
          RequestTemplate.of(
              options.domain(),
              options.traffic().descriptors(),
              options.traffic().permits(),
              load.column());
    } catch (TrafficException e) {
      problems.addAll(e.problems());
    }
    if (rules == null) {
      problems.addAll(found);
    } else if (!rules.hasDomain(options.domain())) {
      problems.add(rules.unknownDomain(options.domain()));
    }
    if (options.maxKeys() < 1) {
      problems.add("maxKeys: " + options.maxKeys() + " (expected: at least 1)");
    }
    overwritten(options, problems);
    if (rules == null || template == null || !problems.isEmpty()) {
      throw new TrafficException(problems);
    }
    Map<String, String> texts = options.report() == null ? Map.of() : texts(options.rules());
    elastic(rules, options, found);
    boolean queues =
        rules.rules().stream()
            .anyMatch(rule -> rule.domain().equals(options.domain()) && rule.queue() != null);
    boolean seats =
        rules.rules().stream()
            .anyMatch(rule -> rule.domain().equals(options.domain()) && hasSeats(rule));
    return new Plan(rules, queues, seats, template, load, found, texts);
  }

  private static boolean hasSeats(Rule rule) {
    Policy policy = rule.policy();
    return policy != null && policy.algorithm() == Algorithm.CONCURRENCY;
  }

  /** Warns if a load is missing, or of no use. */
  private static void elastic(RuleSet rules, ReplayOptions options, List<String> warnings) {
    boolean any = false;
    for (Rule rule : rules.rules()) {
      Policy policy = rule.policy();
      if (rule.domain().equals(options.domain())
          && policy != null
          && policy.throttle().isElastic()) {
        any = true;
        if (options.load() == null) {
          warnings.add(
              rule.position()
                  + " throttle: elastic, but no load is given (expected: --load; without, it is"
                  + " hard)");
        }
      }
    }
    if (options.load() != null && !any) {
      warnings.add("load: given, but no rule of the domain is elastic (it has no effect)");
    }
  }

  private static @Nullable RuleSet rules(ReplayOptions options, List<String> found) {
    if (options.rules().isEmpty()) {
      found.add("rules: none (expected: at least one file or folder)");
      return null;
    }
    Rules.LoadResult loaded = Rules.load(options.rules());
    // Rules without an error have warnings only, which are shown under that name.
    boolean broken = loaded.ruleSet() == null;
    loaded.problems().stream()
        .map(each -> broken ? each.shown() : each.toString())
        .forEach(found::add);
    return loaded.ruleSet();
  }

  /** Returns the contents of the rule files by their names, to be shown. */
  private static Map<String, String> texts(List<Path> paths) throws TrafficException {
    Map<String, String> texts = new TreeMap<>();
    try {
      for (Path path : paths) {
        if (Files.isDirectory(path)) {
          try (Stream<Path> files = Files.list(path)) {
            for (Path file : files.filter(Rules::isRuleFile).toList()) {
              texts.put(file.toString(), Files.readString(file));
            }
          }
        } else {
          texts.put(path.toString(), Files.readString(path));
        }
      }
    } catch (IOException e) {
      throw new TrafficException("rules: " + IoCauses.named(e) + " (expected: files to read)");
    }
    return texts;
  }

  private static void overwritten(ReplayOptions options, List<String> problems)
      throws TrafficException {
    List<Path> sources = new ArrayList<>(options.rules());
    sources.addAll(options.traffic().files());
    Target.check("decisions", options.decisions(), sources, problems);
    Target.check("report", options.report(), sources, problems);
    Path report = options.report();
    Path decisions = options.decisions();
    if (report != null && decisions != null && Target.same(report, decisions)) {
      problems.add("report: " + report + " (expected: another file than the decisions')");
    }
  }

  private static @Nullable DecisionsWriter decisions(ReplayOptions options, boolean queues)
      throws IOException {
    Path file = options.decisions();
    if (file == null) {
      return null;
    }
    // No channel: an interrupt, which ends the reading, would close it.
    OutputStream out;
    try {
      out = new FileOutputStream(file.toFile());
    } catch (IOException e) {
      throw new IOException("decisions: " + IoCauses.file(file, e), e);
    }
    try {
      return new DecisionsWriter(out, options.traffic().inputs(), queues);
    } catch (IOException e) {
      out.close();
      throw e;
    }
  }
}
