package dev.weir.cli;

import dev.weir.Ticker;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
      "Puts load on a running server and tells how fast it answers.",
      "",
      "Without --rate each connection asks again as soon as it is answered. With --rate requests"
          + " are due at fixed times, and latency counts from when a request was due, not from"
          + " when it could be sent. Ctrl-C ends early and shows what was measured.",
      "",
      "Exit status: 0 if any request was decided, 3 if none was. The JSON is described in"
          + " docs/bench.md.",
      ""
    })
final class BenchCommand implements Callable<Integer> {
  /** All requests in flight together; each needs a little memory here and there. */
  private static final long MAX_IN_FLIGHT = 1_000_000;

  /** How long Ctrl-C waits for the report. */
  private static final long REPORT_SECONDS = 20;

  @Option(
      names = "--door",
      defaultValue = "grpc",
      paramLabel = "grpc|http|json|resp|resp-rules",
      description =
          "How to ask: ShouldRateLimit, POST /v1/check, POST /json, CL.THROTTLE, WEIR.CHECK."
              + " Default: ${DEFAULT-VALUE}")
  private String door = "grpc";

  @Option(
      names = "--target",
      defaultValue = "127.0.0.1",
      paramLabel = "HOST[:PORT]",
      description = "The server. Default: ${DEFAULT-VALUE} and the door's usual port")
  private String target = "127.0.0.1";

  @Option(
      names = "--connections",
      defaultValue = "8",
      paramLabel = "N",
      description = "Connections, up to 10000. Default: ${DEFAULT-VALUE}")
  private String connections = "8";

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      description =
          "Requests of each connection that are out at once: gRPC streams, or the depth of a"
              + " pipeline. Default: 16, or 1 for http and json")
  private @Nullable String inFlight;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description = "Requests due in a second. Default: as many as are answered")
  private @Nullable String rate;

  @Option(
      names = "--duration",
      defaultValue = "10s",
      paramLabel = "TIME",
      description = "How long to measure, up to 1h. Default: ${DEFAULT-VALUE}")
  private String duration = "10s";

  @Option(
      names = "--warmup",
      defaultValue = "2s",
      paramLabel = "TIME",
      description = "How long to ask before that is measured. Default: ${DEFAULT-VALUE}")
  private String warmup = "2s";

  @Option(
      names = "--keys",
      defaultValue = "100000",
      paramLabel = "N",
      description = "How many keys are asked for. Default: ${DEFAULT-VALUE}")
  private String keys = "100000";

  @Option(
      names = "--draw",
      defaultValue = "uniform",
      paramLabel = "uniform|zipf",
      description = "How often each key is asked for. Default: ${DEFAULT-VALUE}")
  private String draw = "uniform";

  @Option(
      names = "--domain",
      defaultValue = "demo",
      description = "The requests' domain. Default: ${DEFAULT-VALUE}")
  private String domain = "demo";

  @Option(
      names = "--descriptor",
      defaultValue = "user",
      paramLabel = "KEY",
      description = "The key of their one entry. Default: ${DEFAULT-VALUE}")
  private String descriptor = "user";

  @Option(
      names = "--denied",
      defaultValue = "0",
      paramLabel = "SHARE",
      description =
          "Share of requests that go to 8 more keys, used up in the warm-up if their limit is not"
              + " too high. Default: ${DEFAULT-VALUE}")
  private String denied = "0";

  @Option(
      names = "--throttle",
      defaultValue = "999999,1000000,60",
      paramLabel = "BURST,COUNT,SECONDS",
      description = "The limit that CL.THROTTLE asks with. Default: ${DEFAULT-VALUE}")
  private String throttle = "999999,1000000,60";

  @Option(
      names = "--json",
      paramLabel = "FILE|-",
      description = "Write the result to this file; - shows it instead of the table.")
  private @Nullable String json;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "A token to show: as bearer, or by AUTH.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      description = "Use TLS, and trust these certificates.")
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
    Load load = new Load(plan, Ticker.system());
    CountDownLatch shown = new CountDownLatch(1);
    Thread hook = new Thread(() -> stop(load, shown), "weir-stop");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      LoadResult result;
      try (BenchBar bar = new BenchBar()) {
        result = load.run(bar);
      }
      show(new BenchReport(plan, result));
      return result.counts().answered() > 0 ? 0 : Main.FAILED;
    } catch (IOException e) {
      throw new Failure(
          plan.target().authority()
              + ": "
              + e.getMessage()
              + " (expected: a server with a door for "
              + plan.door()
              + ", such as 'weir serve')",
          e);
    } finally {
      shown.countDown();
      forget(hook);
    }
  }

  private LoadPlan plan() {
    Door way = Door.of(door);
    long lanes = BenchFlags.number("--connections", connections, 1, 10_000);
    long each =
        inFlight == null
            ? way.defaultInFlight()
            : BenchFlags.number("--in-flight", inFlight, 1, 10_000);
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
        BenchFlags.target(target, way.defaultPort(), allowRemote),
        (int) lanes,
        (int) each,
        rate == null ? 0 : BenchFlags.rate(rate),
        BenchFlags.durationNanos("--duration", duration, 100_000_000L, "100ms..1h"),
        BenchFlags.durationNanos("--warmup", warmup, 0, "0s..1h"),
        BenchFlags.number("--keys", keys, 1, LoadPlan.MAX_KEYS),
        KeyDraw.Kind.of(draw),
        BenchFlags.share("--denied", denied),
        BenchFlags.text("--domain", domain),
        BenchFlags.text("--descriptor", descriptor),
        BenchFlags.throttle(throttle),
        tokenFile == null ? null : BenchFlags.token(tokenFile),
        tlsCa == null ? null : BenchFlags.readable("--tls-ca", tlsCa));
  }

  private void show(BenchReport report) {
    PrintWriter out = spec.commandLine().getOut();
    out.print("-".equals(json) ? report.json() : report.text());
    out.flush();
    if (json != null && !json.equals("-")) {
      try {
        Files.writeString(Path.of(json), report.json());
      } catch (IOException e) {
        throw new Failure("--json: " + json + " cannot be written: " + e.getMessage(), e);
      }
    }
  }

  /** Holds the process until the report is there. */
  private static void stop(Load load, CountDownLatch shown) {
    load.stop();
    try {
      if (!shown.await(REPORT_SECONDS, TimeUnit.SECONDS)) {
        Runtime.getRuntime().halt(Main.FAILED);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The process is ending, and the hook waits for this.
    }
  }
}
