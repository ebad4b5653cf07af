package dev.weir.bench.wire;

import dev.weir.bench.ClientDecision;
import dev.weir.client.ClientMetrics;
import dev.weir.client.WeirClient;
import dev.weir.rules.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Measurements of what the client saves and costs: calls for 1,000 decisions, calls for a refused
 * key, time and memory of a local decision, and the cost of leases near a limit. Server and clients
 * share a process.
 */
final class ClientFigures {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final int NEAR_CLIENTS = 4;

  private final String target;
  private final long seconds;

  private ClientFigures(String target, long seconds) {
    this.target = target;
    this.seconds = seconds;
  }

  /** Runs the measurements. Arguments: seconds of each run. */
  public static void main(String[] arguments) throws Exception {
    long seconds = Long.parseLong(arguments[0]);
    try (ClientServer server = ClientServer.start()) {
      ClientFigures figures = new ClientFigures(server.target(), seconds);
      figures.hotKeys();
      figures.refusedKeys();
      figures.nearTheLimit();
    }
    decision(seconds);
  }

  private WeirClient client() throws InterruptedException {
    WeirClient client = WeirClient.builder(target).deadline(Duration.ofSeconds(1)).build();
    if (!client.awaitAvailable(WAIT)) {
      throw new IllegalStateException("server: does not answer within " + WAIT);
    }
    return client;
  }

  /** A tally that counts decisions, and times those that could not be made at once. */
  private static final class Tally {
    final ConcurrentHistogram waited = new ConcurrentHistogram(TimeUnit.SECONDS.toNanos(30), 3);
    long decisions;

    void request(WeirClient client, Request request) {
      decisions++;
      long begun = System.nanoTime();
      AtomicBoolean late = new AtomicBoolean();
      client.decide(
          request,
          answer -> {
            if (late.get() && answer.allowed()) {
              waited.recordValue(System.nanoTime() - begun);
            }
          });
      late.set(true);
    }
  }

  private static void pace(long perSecond, long seconds, Runnable task) {
    long begun = System.nanoTime();
    long end = begun + TimeUnit.SECONDS.toNanos(seconds);
    long done = 0;
    for (long now = begun; now - end < 0; now = System.nanoTime()) {
      long due = perSecond == 0 ? done + 1_000 : (now - begun) * perSecond / 1_000_000_000L;
      for (; done < due; done++) {
        task.run();
      }
      if (perSecond > 0) {
        LockSupport.parkNanos(50_000);
      }
    }
  }

  private void hotKeys() throws InterruptedException {
    System.out.printf(
        "%n| one key, one thread | asked per second | decisions/s | calls per 1,000"
            + " | p99 of an admitted request with a call |%n|---|---|---|---|---|%n");
    for (String key : new String[] {"second", "minute", "strict"}) {
      for (long rate : new long[] {1_000, 10_000, 50_000, 0}) {
        if (rate > 0 || !key.equals("strict")) {
          hotKey(key, rate);
        }
      }
    }
  }

  private void hotKey(String key, long rate) throws InterruptedException {
    try (WeirClient client = client()) {
      Request request = Request.of(ClientServer.DOMAIN, key, "a" + rate);
      pace(rate, 1, () -> client.decide(request, answer -> {}));
      Tally tally = new Tally();
      ClientMetrics before = client.metrics();
      long begun = System.nanoTime();
      pace(rate, seconds, () -> tally.request(client, request));
      double took = (System.nanoTime() - begun) / 1e9;
      long calls = client.metrics().messages() - before.messages();
      System.out.printf(
          Locale.ROOT,
          "| %s | %s | %,.0f | %.3f | %s |%n",
          key.equals("strict") ? "strict" : "leased, by the " + key,
          rate == 0 ? "as fast as it goes" : String.format(Locale.ROOT, "%,d", rate),
          tally.decisions / took,
          calls * 1_000.0 / tally.decisions,
          p99(tally.waited));
    }
  }

  private static String p99(Histogram waited) {
    return waited.getTotalCount() == 0
        ? "no call"
        : String.format(Locale.ROOT, "%.2f ms", waited.getValueAtPercentile(99) / 1e6);
  }

  private void refusedKeys() throws InterruptedException {
    System.out.printf(
        "%n| refused key, asked 20,000 times a second | decisions | calls | retry-afters |%n"
            + "|---|---|---|---|%n");
    refused("none", 1);
    refused("few", 5 * seconds);
  }

  private void refused(String key, long retryAfters) throws InterruptedException {
    try (WeirClient client = client()) {
      Tally tally = new Tally();
      Request request = Request.of(ClientServer.DOMAIN, key, "a");
      pace(20_000, seconds, () -> tally.request(client, request));
      System.out.printf(
          Locale.ROOT,
          "| %s | %,d | %,d | %,d |%n",
          key.equals("none") ? "0 a day" : "5 a second, one at a time",
          tally.decisions,
          client.metrics().messages(),
          retryAfters);
    }
  }

  /** One request near the limit. */
  private record TimedRequest(long atNanos, boolean admitted) {}

  private void nearTheLimit() throws InterruptedException {
    System.out.printf(
        "%n| %d clients, %,d in %d s, leased | admitted, of the limit | stranded"
            + " | refused although there was room | calls per 1,000 |%n|---|---|---|---|---|%n",
        NEAR_CLIENTS, ClientServer.NEAR_LIMIT, ClientServer.NEAR_WINDOW_SECONDS);
    for (int percent : new int[] {90, 110, 200, 500}) {
      near(percent);
    }
  }

  private void near(int percent) throws InterruptedException {
    List<WeirClient> clients = new ArrayList<>();
    List<TimedRequest> asked = new ArrayList<>();
    try {
      for (int i = 0; i < NEAR_CLIENTS; i++) {
        clients.add(client());
      }
      Request request = Request.of(ClientServer.DOMAIN, "near", "at-" + percent);
      long perSecond = ClientServer.NEAR_LIMIT * percent / 100 / ClientServer.NEAR_WINDOW_SECONDS;
      int[] turn = {0};
      pace(
          perSecond,
          Math.max(seconds, 3 * ClientServer.NEAR_WINDOW_SECONDS),
          () ->
              clients
                  .get(turn[0]++ % NEAR_CLIENTS)
                  .decide(
                      request,
                      answer -> {
                        synchronized (asked) {
                          asked.add(new TimedRequest(System.nanoTime(), answer.allowed()));
                        }
                      }));
      report(percent, asked, clients.stream().mapToLong(each -> each.metrics().messages()).sum());
    } finally {
      clients.forEach(WeirClient::close);
    }
  }

  private static void report(int percent, Collection<TimedRequest> asked, long calls) {
    List<TimedRequest> all;
    synchronized (asked) {
      all = new ArrayList<>(asked);
    }
    all.sort((a, b) -> Long.compare(a.atNanos, b.atNanos));
    long window = TimeUnit.SECONDS.toNanos(ClientServer.NEAR_WINDOW_SECONDS);
    long first = all.get(0).atNanos + window;
    long inWindow = 0;
    long wrongly = 0;
    long later = 0;
    long admitted = 0;
    int out = 0;
    for (TimedRequest each : all) {
      for (; all.get(out).atNanos <= each.atNanos - window; out++) {
        inWindow -= all.get(out).admitted ? 1 : 0;
      }
      wrongly += !each.admitted && inWindow < ClientServer.NEAR_LIMIT ? 1 : 0;
      inWindow += each.admitted ? 1 : 0;
      if (each.atNanos >= first) {
        later++;
        admitted += each.admitted ? 1 : 0;
      }
    }
    double windows = (all.get(all.size() - 1).atNanos - first) / (double) window;
    double wanted = Math.min((double) later, windows * ClientServer.NEAR_LIMIT);
    System.out.printf(
        Locale.ROOT,
        "| %d %% of the limit | %.1f %% | %.1f %% | %.2f %% | %.1f |%n",
        percent,
        100 * admitted / (windows * ClientServer.NEAR_LIMIT),
        100 * Math.max(0, 1 - admitted / wanted),
        100.0 * wrongly / all.size(),
        1_000.0 * calls / all.size());
  }

  private static void decision(long seconds) throws Exception {
    Collection<RunResult> results =
        new Runner(
                new OptionsBuilder()
                    .include(ClientDecision.class.getName())
                    .addProfiler(GCProfiler.class)
                    .measurementTime(TimeValue.seconds(Math.max(1, seconds / 5)))
                    .build())
            .run();
    System.out.printf("%n| a local decision | ns | bytes |%n|---|---|---|%n");
    for (RunResult result : results) {
      Result<?> bytes = result.getSecondaryResults().get("gc.alloc.rate.norm");
      System.out.printf(
          Locale.ROOT,
          "| by a %s | %.0f | %.2f |%n",
          result.getPrimaryResult().getLabel(),
          result.getPrimaryResult().getScore(),
          bytes == null ? Double.NaN : bytes.getScore());
    }
  }
}
