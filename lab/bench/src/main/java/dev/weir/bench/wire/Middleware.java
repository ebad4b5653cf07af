package dev.weir.bench.wire;

import dev.weir.bench.Median;
import dev.weir.bench.Programs;
import dev.weir.bench.Tools;
import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A measurement of the cost of a limit to an application on Tomcat: requests per second with and
 * without the filter, from the same server, in turns. Server and client have a processor each. It
 * also measures the cost of a request that waits on a virtual thread.
 */
final class Middleware {
  private static final String[] PATHS = {
    TomcatServer.PLAIN, TomcatServer.LIMITED, TomcatServer.QUIET
  };
  private static final int WARM_UP_SECONDS = 10;

  private final int seconds;
  private final String port;
  private final Path script;

  private Middleware(int seconds, String port) throws IOException {
    this.seconds = seconds;
    this.port = port;
    this.script =
        Files.writeString(
            Files.createTempDirectory("weir-wrk").resolve("wrk.lua"),
            "function request() return wrk.format('GET', nil,"
                + " {['X-User'] = 'user' .. math.random(100000)}) end\n");
  }

  /** Runs the measurement. Arguments: rounds, seconds of a run. */
  public static void main(String[] arguments) throws Exception {
    if (Tools.there("wrk")) {
      throughput(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]));
    } else {
      System.out.println("\nThroughput: not measured, wrk is not there.");
    }
    WaitingMemory.measure();
  }

  private static void throughput(int rounds, int seconds) throws Exception {
    try (Programs started = new Programs()) {
      String port =
          started
              .start(
                  ChildProcess.java(TomcatServer.class)
                      .options("-Xmx512m")
                      .within(Tools.onProcessor(0)))
              .await(Pattern.compile("^ready (\\d+)$"))
              .group(1);
      Middleware warmUp = new Middleware(WARM_UP_SECONDS, port);
      for (int i = 0; i < 2; i++) {
        for (String path : PATHS) {
          warmUp.perSecond(path);
        }
      }
      new Middleware(seconds, port).rounds(rounds);
    }
  }

  private void rounds(int rounds) throws IOException {
    double[][] found = new double[PATHS.length][rounds];
    double[][] ratios = new double[PATHS.length][rounds];
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < PATHS.length; i++) {
        found[i][round] = perSecond(PATHS[i]);
        ratios[i][round] = found[i][round] / found[0][round];
      }
    }
    System.out.printf(
        "%n| Tomcat, 32 connections | per second | lowest, highest | ratio | lowest, highest |%n"
            + "|---|---|---|---|---|%n");
    for (int i = 0; i < PATHS.length; i++) {
      double median = Median.of(Arrays.stream(found[i]));
      Arrays.sort(found[i]);
      Arrays.sort(ratios[i]);
      System.out.printf(
          Locale.ROOT,
          "| %s | %,.0f | %,.0f, %,.0f | %.3f | %.3f, %.3f |%n",
          PATHS[i],
          median,
          found[i][0],
          found[i][rounds - 1],
          Median.of(Arrays.stream(ratios[i])),
          ratios[i][0],
          ratios[i][rounds - 1]);
    }
  }

  private double perSecond(String path) throws IOException {
    String said =
        ChildProcess.of(
                "wrk",
                "-t",
                "1",
                "-c",
                "32",
                "-d",
                seconds + "s",
                "-s",
                script.toString(),
                "http://127.0.0.1:" + port + path + "/")
            .within(Tools.onProcessor(1))
            .run();
    if (said.contains("Non-2xx")) {
      throw new IOException("wrk: refused requests\n" + said);
    }
    return Tools.number("Requests/sec: +([0-9.]+)", said);
  }
}
