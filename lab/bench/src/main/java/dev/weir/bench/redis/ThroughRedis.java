package dev.weir.bench.redis;

import dev.weir.bench.Answers;
import dev.weir.bench.Callers;
import dev.weir.bench.LimitProof;
import dev.weir.bench.Median;
import dev.weir.bench.peers.AsyncLimiter;
import dev.weir.bench.peers.KeyedLimiter;
import dev.weir.wire.testkit.RedisServer;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * A comparison of Weir with others that decide in Redis: all of them in turn, against one
 * redis-server that shares all processors with them. Medians count.
 */
final class ThroughRedis {
  /** The further warm-ups to find a quota of a tenth. */
  private static final int MORE_WARM_UPS = 2;

  /** A line of a table. */
  private record Row(RedisContender contender, boolean async) {
    @Override
    public String toString() {
      return contender + (async ? ", asynchronous" : "");
    }
  }

  /** The results of one round. */
  private record Round(Answers answers, RedisFigures.Commands executed) {
    double perSecond() {
      return answers.perSecond();
    }

    double scripts() {
      return (double) executed.scripts() / answers.requested();
    }

    double commands() {
      return (double) executed.all() / answers.requested();
    }
  }

  /** A row that is ready to be measured. */
  private record Ready(Row row, KeyedLimiter limiter, List<String> keys, List<Round> rounds) {
    double median(ToDoubleFunction<Round> figure) {
      return Median.of(rounds.stream().mapToDouble(figure));
    }
  }

  private final int rounds;
  private final int seconds;
  private final RedisClients clients;
  private final Callers callers;
  private final RedisFigures figures;
  private final Map<Row, Double> hotPerSecond = new HashMap<>();
  private int names;

  private ThroughRedis(int rounds, int seconds, RedisClients clients, Callers callers) {
    this.rounds = rounds;
    this.seconds = seconds;
    this.clients = clients;
    this.callers = callers;
    this.figures = new RedisFigures(clients.connection());
  }

  /** Runs the comparison. Arguments: rounds, seconds of a run. */
  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[0]);
    int seconds = Integer.parseInt(arguments[1]);
    try (Callers callers = new Callers()) {
      try (RedisServer redis = RedisServer.start();
          RedisClients clients = new RedisClients(redis.uri())) {
        new ThroughRedis(rounds, seconds, clients, callers).all();
      }
      // A separate server: no earlier connection takes or gives back memory.
      try (RedisServer redis = RedisServer.start();
          RedisClients clients = new RedisClients(redis.uri())) {
        new RedisMemory(clients, callers).all();
      }
    }
  }

  private void all() throws InterruptedException {
    System.out.printf(
        "JVM: %s %s%nRedis: %s%n%n%d threads wait for each answer; asynchronous: %d threads have %d"
            + " calls in flight each. Scripts and commands: what Redis executed for a decision,"
            + " commands inside scripts included.%n",
        System.getProperty("java.vm.name"),
        System.getProperty("java.vm.version"),
        figures.version(),
        Callers.THREADS,
        Callers.ASYNC_THREADS,
        Callers.IN_FLIGHT);
    List<Row> rows = proven();
    for (RedisScenario scenario : RedisScenario.values()) {
      table(scenario, rows);
    }
  }

  /** Returns the rows of the limiters that enforce a small quota. */
  private List<Row> proven() throws InterruptedException {
    List<Row> rows = new ArrayList<>();
    for (RedisContender contender : RedisContender.values()) {
      try {
        KeyedLimiter limiter = contender.limiter(clients, LimitProof.policy(name()));
        LimitProof.prove(limiter, callers);
        rows.add(new Row(contender, false));
        if (limiter instanceof AsyncLimiter && contender != RedisContender.SLIDING_WINDOW) {
          rows.add(new Row(contender, true));
        }
      } catch (RuntimeException e) {
        leftOut(contender, e);
      }
    }
    return rows;
  }

  /** Returns a policy's name that is used only once, so that its state is separate. */
  private String name() {
    return "bench-" + names++;
  }

  private static void leftOut(Object what, RuntimeException cause) {
    System.out.printf("%n%s: not measured: %s%n", what, cause);
  }

  /** Sets all rows up, warms them up, runs them in turn and prints medians. */
  private void table(RedisScenario scenario, List<Row> rows) throws InterruptedException {
    List<Ready> all = new ArrayList<>();
    for (Row row : rows) {
      if (!scenario.measures(row.contender())) {
        continue;
      }
      try {
        all.add(warm(scenario, row));
      } catch (RuntimeException e) {
        leftOut(scenario + ", " + row, e);
      }
    }
    for (int i = 0; i < rounds; i++) {
      for (Ready ready : all) {
        ready.rounds().add(round(scenario.toString(), ready, seconds));
      }
    }
    print(scenario, all);
    if (scenario == RedisScenario.HOT) {
      all.forEach(ready -> hotPerSecond.put(ready.row(), ready.median(Round::perSecond)));
    }
  }

  /** Sets a row up and runs it under the load that is to be measured. */
  private Ready warm(RedisScenario scenario, Row row) throws InterruptedException {
    double asked = hotPerSecond.getOrDefault(row, 0.0);
    Ready ready = ready(scenario, row, asked);
    double found = round(scenario + ", warm-up", ready, seconds).perSecond();
    // A limiter that refuses faster than it admits gets more requests and so refuses more: the
    // average of both rates is used.
    for (int i = 0; scenario == RedisScenario.REFUSED && i < MORE_WARM_UPS; i++) {
      asked = Math.sqrt(asked * found);
      ready = ready(scenario, row, asked);
      found = round(scenario + ", warm-up", ready, 1).perSecond();
    }
    return ready;
  }

  private Ready ready(RedisScenario scenario, Row row, double askedPerSecond)
      throws InterruptedException {
    List<String> keys = scenario.keys(row.contender());
    System.err.printf(Locale.ROOT, "%s: %s, %,d keys%n", scenario, row, keys.size());
    KeyedLimiter limiter =
        row.contender().limiter(clients, scenario.policy(row.contender(), name(), askedPerSecond));
    callers.each(keys.size(), n -> limiter.fill(keys.get(n)));
    return new Ready(row, limiter, keys, new ArrayList<>());
  }

  private Round round(String title, Ready ready, int seconds) throws InterruptedException {
    RedisFigures.Commands before = figures.commands();
    Answers answers =
        ready.row().async() && ready.limiter() instanceof AsyncLimiter async
            ? callers.requestAsync(async, ready.keys(), seconds)
            : callers.request(ready.limiter(), ready.keys(), seconds);
    Round round = new Round(answers, figures.commands().since(before));
    System.err.printf(Locale.ROOT, "%s: %s %,.0f/s%n", title, ready.row(), round.perSecond());
    return round;
  }

  private static void print(RedisScenario scenario, List<Ready> all) {
    System.out.printf(
        "%n**%s**%n%n"
            + "| | decisions per second | times Bucket4j | lowest, highest | p50 us | p99 us"
            + " | refused | scripts | commands |%n"
            + "|---|---|---|---|---|---|---|---|---|%n",
        scenario);
    double yardstick =
        all.stream()
            .filter(ready -> ready.row().contender() == RedisContender.BUCKET4J)
            .mapToDouble(ready -> ready.median(Round::perSecond))
            .findFirst()
            .orElse(Double.NaN);
    for (Ready ready : all) {
      DoubleSummaryStatistics spread =
          ready.rounds().stream().mapToDouble(Round::perSecond).summaryStatistics();
      System.out.printf(
          Locale.ROOT,
          "| %s | %,.0f | %,.2f | %,.0f, %,.0f | %,.1f | %,.1f | %.1f %% | %.3f | %.3f |%n",
          ready.row(),
          ready.median(Round::perSecond),
          ready.median(Round::perSecond) / yardstick,
          spread.getMin(),
          spread.getMax(),
          ready.median(round -> round.answers().micros(50)),
          ready.median(round -> round.answers().micros(99)),
          ready.median(round -> 100 * round.answers().refused()),
          ready.median(Round::scripts),
          ready.median(Round::commands));
    }
    for (Ready ready : all) {
      Answers answers = new Answers(1);
      ready.rounds().forEach(round -> answers.add(round.answers()));
      if (answers.failed() > 0) {
        System.out.printf(
            Locale.ROOT,
            "%n%s: %,d calls failed and are not counted; the last: %s%n",
            ready.row(),
            answers.failed(),
            answers.failure());
      }
    }
  }
}
