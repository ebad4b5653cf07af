package dev.weir.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * A runner of a {@link Plan}, or of the benchmarks that the arguments name.
 *
 * <pre>Suite FOLDER [--quick|--long] [JMH's arguments]</pre>
 *
 * <p>Results go to the folder, a JSON file for each stage and round; JMH's messages go to standard
 * error. JMH's arguments win over the plan's: {@code -p keys=50000000}, {@code -t 2}, {@code -f 3}.
 * If they name a benchmark, only that benchmark is run, without a plan.
 */
final class Suite {
  private final CommandLineOptions user;
  private final Plan plan;
  private final Path folder;
  private final OutputFormat output =
      OutputFormatFactory.createFormatInstance(System.err, VerboseMode.NORMAL);

  private Suite(CommandLineOptions user, Plan plan, Path folder) {
    this.user = user;
    this.plan = plan;
    this.folder = folder;
  }

  public static void main(String[] args)
      throws IOException, RunnerException, CommandLineOptionException {
    List<String> rest = new ArrayList<>(Arrays.asList(args).subList(1, args.length));
    Plan plan = Plan.SHORT;
    for (Plan each : Plan.values()) {
      if (rest.remove(each.flag())) {
        plan = each;
      }
    }
    String[] arguments = rest.toArray(new String[0]);
    CommandLineOptions user = new CommandLineOptions(arguments);
    if (user.shouldHelp() || user.shouldList() || user.shouldListWithParams()) {
      org.openjdk.jmh.Main.main(arguments);
      return;
    }
    new Suite(user, plan, Files.createDirectories(Path.of(args[0]))).run();
  }

  private void run() throws RunnerException {
    if (!user.getIncludes().isEmpty()) {
      measure(options(1, 0));
      return;
    }
    for (int round = 1; round <= plan.rounds(); round++) {
      List<Plan.Stage> stages = plan.stages();
      for (int i = 0; i < stages.size(); i++) {
        OptionsBuilder options = options(round, i);
        plan.timing(options);
        stages.get(i).addTo(options);
        measure(options);
      }
    }
  }

  private OptionsBuilder options(int round, int stage) {
    OptionsBuilder options = new OptionsBuilder();
    options
        .parent(user)
        .resultFormat(ResultFormatType.JSON)
        .result(folder.resolve("round-%d-stage-%02d.json".formatted(round, stage)).toString());
    if (user.getProfilers().isEmpty()) {
      options.addProfiler(GCProfiler.class);
    }
    return options;
  }

  private void measure(Options planned) throws RunnerException {
    new Runner(asTheUserSays(planned), output).run();
  }

  /** Returns the options, with the values of the plan replaced that the user gave. */
  private Options asTheUserSays(Options planned) {
    OptionsBuilder options = new OptionsBuilder();
    options.parent(planned);
    if (user.getThreads().hasValue()) {
      options.threads(user.getThreads().get());
    }
    if (user.getWarmupIterations().hasValue()) {
      options.warmupIterations(user.getWarmupIterations().get());
    }
    if (user.getWarmupTime().hasValue()) {
      options.warmupTime(user.getWarmupTime().get());
    }
    if (user.getMeasurementIterations().hasValue()) {
      options.measurementIterations(user.getMeasurementIterations().get());
    }
    if (user.getMeasurementTime().hasValue()) {
      options.measurementTime(user.getMeasurementTime().get());
    }
    for (String name : List.of("limiter", "keys", "draw", "load")) {
      if (user.getParameter(name).hasValue()) {
        options.param(name, user.getParameter(name).get().toArray(new String[0]));
      }
    }
    return options;
  }
}
