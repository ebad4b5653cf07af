package dev.weir.siege.soak;

import dev.weir.siege.Complaints;
import dev.weir.siege.Interval;
import dev.weir.siege.ServerProcess;
import dev.weir.siege.Target;
import dev.weir.siege.cluster.Errand;
import dev.weir.siege.cluster.Ration;
import dev.weir.siege.cluster.WindowErrand;
import dev.weir.siege.guests.Attack;
import dev.weir.siege.guests.IdleConnections;
import dev.weir.siege.guests.Protocol;
import dev.weir.siege.guests.UnfinishedRequests;
import dev.weir.wire.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A soak of two servers that share a Redis. Ordinary clients send requests for a while, during
 * which hostile clients take turns, Redis fails in several ways, and rules and tokens change. Every
 * admission is checked.
 *
 * <p>How is it designed? Each kind of trouble has its own thread and its own rhythm, so that
 * troubles coincide in ever different ways. Ordinary clients keep their connections all the time
 * and send requests at fixed times. A promise that does not hold is a complaint; the soak goes on,
 * to show whether it happens again.
 */
final class Soak {
  static final int SERVERS = 2;

  /**
   * The number of clients of each protocol at each server. Their request rate is low, so that a
   * late client can catch up.
   */
  private static final int VISITORS = 4;

  private static final Duration EVERY = Duration.ofMillis(50);

  /** The share of requests with a decision that is known beforehand: one of so many. */
  private static final int KNOWN = 2;

  private static final Duration DRAIN_DELAY = Duration.ofSeconds(1);
  private static final Duration DRAIN = Duration.ofSeconds(5);

  /** The time to end a process in addition to draining, on a busy machine. */
  private static final Duration EXIT = Duration.ofSeconds(30);

  private static final Duration INTERVAL = Duration.ofSeconds(10);
  private static final Duration RECOVERY = Duration.ofSeconds(10);
  private static final Duration REST = Duration.ofSeconds(7);
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

  /**
   * The plan of a soak.
   *
   * @param interval the interval of the table's lines
   * @param rest the rest between two troubles of one kind
   * @param requestTimeout the request timeout of the servers: it cuts off attackers that stop
   *     sending
   * @param recovery the longest time for a server to be as before after an attack, for Redis to
   *     decide again after a fault, and for a changed file to be in force
   * @param attacks the attacks that take turns
   */
  record Plan(
      Duration length,
      Duration interval,
      Duration rest,
      Duration requestTimeout,
      Duration recovery,
      List<Attack> attacks) {}

  private final Plan plan;
  private final Path folder;
  private final Consumer<String> progress;
  private final Complaints complaints = new Complaints();
  private final WindowWatch watch = new WindowWatch();
  private final Visitors visitors = new Visitors(complaints);
  private final List<ServerProcess> servers = new ArrayList<>();
  private final List<Resources> latest = new ArrayList<>();
  private final List<Interval> intervals = new ArrayList<>();
  private final CountDownLatch over = new CountDownLatch(1);
  private final SoakFiles files;

  Soak(Plan plan, Path folder, Consumer<String> progress) throws IOException {
    this.plan = plan;
    this.folder = folder;
    this.progress = progress;
    this.files = new SoakFiles(folder);
  }

  /** Ends the soak early, without a complaint; the measurements until then are reported. */
  void end() {
    complaints.close();
    over.countDown();
  }

  /**
   * Runs until the time is over, a server has ended, or {@link #end} is called.
   *
   * @throws IOException if the soak could not begin
   */
  SoakReport run() throws IOException, InterruptedException {
    Map<String, String> outcomes;
    try (RedisServer redis = RedisServer.start()) {
      try {
        start(redis);
        Troubles troubles = new Troubles(plan, servers, files, watch, complaints, over);
        troubles.start(redis);
        measure(troubles);
        over.countDown();
        troubles.join();
        outcomes = troubles.outcomes();
        visitors.close();
        watch.check().forEach(complaints::add);
        stop();
      } finally {
        over.countDown();
        visitors.close();
        servers.forEach(ServerProcess::close);
      }
    }
    return new SoakReport(intervals, complaints.list(), outcomes);
  }

  private void start(RedisServer redis) throws IOException, InterruptedException {
    ExecutorService starters = Executors.newFixedThreadPool(SERVERS);
    try {
      List<Future<ServerProcess>> starting = new ArrayList<>();
      for (int i = 0; i < SERVERS; i++) {
        Path log = folder.resolve("server" + i + ".log");
        starting.add(starters.submit(() -> start(log, redis.uri())));
      }
      for (Future<ServerProcess> each : starting) {
        servers.add(each.get());
      }
    } catch (ExecutionException e) {
      throw new IOException("servers: not started", e);
    } finally {
      starters.shutdown();
    }
    progress.accept("both servers are ready, their logs are in " + folder);
    for (int i = 0; i < SERVERS; i++) {
      Target target = servers.get(i).target();
      String name = SoakReport.name(i);
      for (Protocol protocol : Protocol.values()) {
        for (int j = 0; j < VISITORS; j++) {
          visitors.add(
              protocol,
              () -> target,
              Visitor.Pace.every(EVERY),
              new Questions(protocol, watch, name));
        }
      }
    }
    if (!visitors.awaitAnswers()) {
      throw new IOException("clients: not answered: " + complaints.list());
    }
    for (ServerProcess server : servers) {
      latest.add(server.resources());
    }
    visitors.next();
  }

  private ServerProcess start(Path log, String store) throws IOException {
    return ServerProcess.start(
        log,
        SoakFiles.TOKEN,
        "--rules",
        files.rules().toString(),
        "--token-file",
        files.tokens().toString(),
        "--store",
        store,
        "--request-timeout",
        plan.requestTimeout.toMillis() + "ms",
        "--drain-delay",
        DRAIN_DELAY.toMillis() + "ms",
        "--drain-timeout",
        DRAIN.toMillis() + "ms");
  }

  /** A source of requests: rations and windows in turn; for {@code CL.THROTTLE} its bucket. */
  private static final class Questions implements Supplier<Errand> {
    private final Ration ration = new Ration(true);
    private final Protocol protocol;
    private final WindowWatch watch;
    private final String server;
    private int asked;

    Questions(Protocol protocol, WindowWatch watch, String server) {
      this.protocol = protocol;
      this.watch = watch;
      this.server = server;
    }

    @Override
    public Errand get() {
      if (protocol == Protocol.THROTTLE) {
        return WindowErrand.of(watch, SoakRules.THROTTLE, server);
      }
      return asked++ % KNOWN == 0 ? ration : WindowErrand.any(watch, server);
    }
  }

  private void measure(Troubles troubles) throws InterruptedException {
    long begun = System.nanoTime();
    long last = begun;
    long end = begun + plan.length.toNanos();
    while (over.getCount() > 0 && last - end < 0) {
      long due = Math.min(end, last + plan.interval.toNanos());
      boolean ended = over.await(due - System.nanoTime(), TimeUnit.NANOSECONDS);
      for (int i = 0; i < SERVERS && !ended; i++) {
        measure(i);
      }
      watch.check().forEach(complaints::add);
      long now = System.nanoTime();
      intervals.add(
          new Interval(
              (now - begun) / 1e9,
              (now - last) / 1e9,
              visitors.next(),
              List.copyOf(latest),
              troubles.happened()));
      progress.accept(SoakReport.line(intervals.get(intervals.size() - 1)));
      last = now;
    }
  }

  private void measure(int index) {
    ServerProcess server = servers.get(index);
    try {
      latest.set(index, server.resources());
    } catch (IOException e) {
      complaints.add(SoakReport.name(index) + " cannot be asked: " + e);
    }
    if (!server.running()) {
      complaints.add(SoakReport.name(index) + " has ended, status " + server.exitStatus());
      over.countDown();
    }
  }

  /** Ends both servers at once, and checks their exit status and their logs. */
  private void stop() {
    servers.forEach(ServerProcess::terminate);
    Duration limit = DRAIN_DELAY.plus(DRAIN).plus(EXIT);
    for (int i = 0; i < SERVERS; i++) {
      ServerProcess server = servers.get(i);
      String name = SoakReport.name(i);
      if (!server.endsWithin(limit)) {
        complaints.add(name + " has not ended " + limit + " after SIGTERM");
      } else if (server.exitStatus() != 0) {
        complaints.add(name + " ended with status " + server.exitStatus() + " (expected: 0)");
      }
      String log = server.log();
      Set<String> wrong = Set.of("OutOfMemoryError", "\tat ");
      if (wrong.stream().anyMatch(log::contains)) {
        complaints.add(name + " logs errors: " + folder);
      }
    }
  }

  /**
   * Runs a soak, prints tables, and draws charts of them.
   *
   * <pre>Soak MINUTES OUT.svg</pre>
   *
   * Ctrl-C ends it early. The exit status is 1 if a promise broke.
   */
  public static void main(String[] arguments) throws Exception {
    Duration length = Duration.ofMillis((long) (Double.parseDouble(arguments[0]) * 60_000));
    Path drawing = Path.of(arguments[1]);
    Path folder = Files.createTempDirectory("weir-soak");
    List<Attack> attacks = new ArrayList<>();
    attacks.addAll(List.of(UnfinishedRequests.values()));
    attacks.addAll(List.of(Calls.values()));
    attacks.addAll(List.of(IdleConnections.values()));
    Plan plan = new Plan(length, INTERVAL, REST, REQUEST_TIMEOUT, RECOVERY, attacks);
    Soak soak = new Soak(plan, folder, System.err::println);
    CountDownLatch done = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> finish(soak, done), "soak-ends"));
    int status = 3;
    try {
      SoakReport report = soak.run();
      System.out.print(report.text());
      System.out.flush();
      Files.writeString(drawing, new SoakChart(report.intervals()).svg());
      System.err.println("drawn: " + drawing + "; logs: " + folder);
      status = report.broken().isEmpty() ? 0 : 1;
    } finally {
      done.countDown();
    }
    Runtime.getRuntime().halt(status);
  }

  /** Ends a soak from outside such that it still reports its measurements. */
  private static void finish(Soak soak, CountDownLatch done) {
    soak.end();
    try {
      if (!done.await(1, TimeUnit.MINUTES)) {
        System.err.println("soak: not ended within a minute");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
