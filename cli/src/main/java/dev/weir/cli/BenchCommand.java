package dev.weir.cli;

import dev.weir.Ticker;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.CtrlC;
import dev.weir.cli.command.FlagValues;
import dev.weir.internal.IoCauses;
import dev.weir.load.Door;
import dev.weir.load.KeyDraw;
import dev.weir.load.LoadGenerator;
import dev.weir.load.LoadPlan;
import dev.weir.load.LoadReport;
import dev.weir.load.LoadResult;
import dev.weir.rules.ShareText;
import dev.weir.rules.ValueErrors;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = {
      "Puts load on a running server and measures how fast it answers.",
      "",
      "Without --rate each connection sends its next request as soon as one is answered."
          + " With --rate requests are due at fixed times, and latency is measured from"
          + " when a request was due, not from when it could be sent. Ctrl-C ends early"
          + " and shows what was measured until then.",
      "",
      "Exit status: 0 if at least one request was decided, 3 if none was. docs/bench.md"
          + " describes the JSON.",
      ""
    })
final class BenchCommand implements Callable<Integer> {
  /** The most requests in flight, which bounds the memory for them here and in the server. */
  private static final long MAX_IN_FLIGHT = 1_000_000;

  @Option(
      names = "--door",
      paramLabel = "grpc|http|json|resp|resp-rules",
      description =
          "Protocol: ShouldRateLimit, POST /v1/check, POST /json, CL.THROTTLE, WEIR.CHECK."
              + " Default: ${DEFAULT-VALUE}")
  private String door = "grpc";

  @Option(
      names = "--target",
      paramLabel = "HOST[:PORT]",
      description = "The server. Default: ${DEFAULT-VALUE} and the protocol's usual port")
  private String target = "127.0.0.1";

  @Option(
      names = "--connections",
      paramLabel = "N",
      description = "Connections, up to 10000. Default: ${DEFAULT-VALUE}")
  private String connections = "8";

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      description =
          "Requests in flight on each connection: gRPC streams, or the depth of a"
              + " pipeline. Default: 16, or 1 for http and json")
  private @Nullable String inFlight;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description = "Requests due per second. Default: as many as the server answers")
  private @Nullable String rate;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      description = "How long to measure, up to 1h. Default: ${DEFAULT-VALUE}")
  private String duration = "10s";

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      description = "How long to send requests before the measurement. Default: ${DEFAULT-VALUE}")
  private String warmup = "2s";

  @Option(
      names = "--keys",
      paramLabel = "N",
      description = "Number of different keys. Default: ${DEFAULT-VALUE}")
  private String keys = "100000";

  @Option(
      names = "--draw",
      paramLabel = "uniform|zipf|in-turn",
      description =
          "How keys are drawn: all equally likely, by Zipf's law, or one after the other."
              + " Default: ${DEFAULT-VALUE}")
  private String draw = "uniform";

  @Option(names = "--domain", description = "The requests' domain. Default: ${DEFAULT-VALUE}")
  private String domain = "demo";

  @Option(
      names = "--descriptor",
      paramLabel = "KEY",
      description = "The key of each descriptor's only entry. Default: ${DEFAULT-VALUE}")
  private String descriptor = "user";

  @Option(
      names = "--denied",
      paramLabel = "SHARE",
      description =
          "Share of requests to be refused: they go to 8 extra keys whose limit the"
              + " warm-up uses up, unless it is too high. Default: ${DEFAULT-VALUE}")
  private String denied = "0";

  @Option(
      names = "--throttle",
      paramLabel = "BURST,COUNT,SECONDS",
      description = "The limit in each CL.THROTTLE command. Default: ${DEFAULT-VALUE}")
  private String throttle = "999999,1000000,60";

  @Option(
      names = "--json",
      paramLabel = "FILE|-",
      description = "Write the result as JSON to this file; - prints it instead of the table.")
  private @Nullable String json;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A token to send, as a bearer token or by AUTH.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      description = "Use TLS, and trust only the CA certificates in this file.")
  private @Nullable Path tlsCa;

  @Option(
      names = "--allow-remote",
      description = "Allow a target that is not this machine. Ask its owner first.")
  private boolean allowRemote;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    LoadPlan plan;
    try {
      plan = plan();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    LoadGenerator load = new LoadGenerator(plan, Ticker.system());
    CtrlC ctrlC = new CtrlC(load::stop);
    try {
      LoadResult result;
      try (BenchBar bar = new BenchBar()) {
        result = load.run(bar);
      }
      show(new LoadReport(plan, result));
      return result.counts().answered() > 0 ? 0 : Main.FAILED;
    } catch (IOException e) {
      throw new CommandFailure(
          plan.authority()
              + ": "
              + e.getMessage()
              + " (expected: a running server for protocol "
              + plan.door()
              + ", such as 'weir serve')",
          e);
    } finally {
      ctrlC.close();
    }
  }

  private LoadPlan plan() {
    Door way = ValueErrors.choice(Door.class, "--door", door);
    long lanes = FlagValues.number("--connections", connections, 1, 10_000);
    long each =
        inFlight == null
            ? way.defaultInFlight()
            : FlagValues.number("--in-flight", inFlight, 1, 10_000);
    if (lanes * each > MAX_IN_FLIGHT) {
      throw new IllegalArgumentException(
          "--connections, --in-flight: "
              + lanes
              + " x "
              + each
              + " (expected: at most "
              + MAX_IN_FLIGHT
              + " in all)");
    }
    return new LoadPlan(
        way,
        List.of(FlagValues.target(target, way.defaultPort(), allowRemote)),
        new LoadPlan.Connections((int) lanes, (int) each, LoadPlan.Loops.woken()),
        LoadPlan.Timing.bySecond(
            rate == null ? 0 : FlagValues.rate(rate),
            FlagValues.durationNanos("--warmup", warmup, 0),
            FlagValues.durationNanos("--duration", duration, 100_000_000L)),
        new LoadPlan.Requests(
            FlagValues.text("--domain", domain),
            FlagValues.text("--descriptor", descriptor),
            FlagValues.throttle(throttle),
            new LoadPlan.Keys(
                FlagValues.number("--keys", keys, 1, LoadPlan.MAX_KEYS),
                ValueErrors.choice(KeyDraw.Kind.class, "--draw", draw),
                ShareText.read("--denied", denied))),
        new LoadPlan.Access(
            tokenFile == null ? null : FlagValues.token(tokenFile),
            tlsCa == null ? null : FlagValues.readable("--tls-ca", tlsCa)));
  }

  private void show(LoadReport report) {
    PrintWriter out = spec.commandLine().getOut();
    out.print("-".equals(json) ? report.json() : report.text());
    out.flush();
    if (json != null && !json.equals("-")) {
      try {
        Files.writeString(Path.of(json), report.json());
      } catch (IOException e) {
        throw new CommandFailure("--json: " + IoCauses.file(Path.of(json), e), e);
      }
    }
  }
}
