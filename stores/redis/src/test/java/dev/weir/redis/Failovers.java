package dev.weir.redis;

import dev.weir.AfterCrash;
import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.wire.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/**
 * A program that measures the excess of admitted permits when Redis crashes under load, by its
 * settings and the store's, and prints a table. docs/guarantees.md explains it.
 */
final class Failovers {
  private static final long PERMITS = 1_000;
  private static final Duration WINDOW = Duration.ofSeconds(10);
  private static final Duration TIMEOUT = Duration.ofMillis(100);
  private static final int STORES = 4;
  private static final int ROUNDS = 5;

  /**
   * The admitted permits at which Redis is killed: most of the quota is used, and requests go on.
   */
  private static final long ADMITTED = 900;

  private static final String[] NOTHING_KEPT = {};
  private static final String[] ALWAYS = {"appendonly yes", "appendfsync always"};
  private static final String[] EVERY_SECOND = {"appendonly yes", "appendfsync everysec"};

  private record Outcome(long excess, long unknown, long slowestMillis, long backMillis) {}

  private interface Round {
    Outcome play();
  }

  private Failovers() {}

  public static void main(String[] args) {
    System.out.println(
        "| crash | excess | answers \"uncertain\" | slowest answer, ms | Redis decides again after,"
            + " ms |");
    System.out.println("|---|---:|---:|---:|---:|");
    print("restart, nothing kept", () -> restart(NOTHING_KEPT));
    print("restart, `appendfsync everysec`", () -> restart(EVERY_SECOND));
    print("restart, `appendfsync always`", () -> restart(ALWAYS));
    print("promotion by a sentinel, `replicas` 0", () -> promotion(0));
    print("promotion by a sentinel, `replicas` 1", () -> promotion(1));
    System.exit(0);
  }

  private static void print(String name, Round round) {
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < ROUNDS; i++) {
      outcomes.add(round.play());
    }
    System.out.printf(
        Locale.ROOT,
        "| %s | %s | %s | %s | %s |%n",
        name,
        range(outcomes.stream().mapToLong(Outcome::excess)),
        range(outcomes.stream().mapToLong(Outcome::unknown)),
        range(outcomes.stream().mapToLong(Outcome::slowestMillis)),
        range(outcomes.stream().mapToLong(Outcome::backMillis)));
  }

  private static String range(LongStream values) {
    long[] sorted = values.sorted().toArray();
    long least = sorted[0];
    long most = sorted[sorted.length - 1];
    return least == most ? String.valueOf(most) : least + " to " + most;
  }

  private static Outcome restart(String... options) {
    try (RedisServer server = RedisServer.start(options)) {
      return crash(server, server.uri(), 0, server::restart);
    }
  }

  private static Outcome promotion(int replicas) {
    try (RedisServer master = RedisServer.start();
        RedisServer one = master.startReplica();
        RedisServer other = master.startReplica();
        RedisServer sentinel = RedisServer.startSentinel("main", master)) {
      for (RedisServer replica : List.of(one, other)) {
        replica.await(role -> role.contains("connected"), "ROLE");
      }
      sentinel.await(info -> info.contains("slaves=2") && info.contains("status=ok"), "INFO");
      String uri = "redis-sentinel://127.0.0.1:" + sentinel.port() + "#main";
      return crash(master, uri, replicas, () -> {});
    }
  }

  private static Outcome crash(RedisServer server, String uri, int replicas, Runnable repair) {
    Policy policy =
        Policy.builder(Quota.of(PERMITS, WINDOW)).algorithm(Algorithm.SLIDING_WINDOW_LOG).build();
    List<RedisStore> stores = new ArrayList<>();
    for (int i = 0; i < STORES; i++) {
      stores.add(
          RedisStore.builder(uri)
              .timeout(TIMEOUT)
              .replicas(replicas)
              .afterCrash(AfterCrash.AMNESTY)
              .build());
    }
    try {
      stores.forEach(store -> Redis.await(store::available));
      try (Crowd crowd = Crowd.start(policy, 1, stores)) {
        crowd.awaitAdmitted(ADMITTED);
        long before = crowd.answers(Reason.UNCERTAIN);
        long killed = System.nanoTime();
        server.kill();
        crowd.await(Reason.UNCERTAIN);
        repair.run();
        crowd.await(Reason.WITHIN_LIMIT);
        long back = System.nanoTime() - killed;
        crowd.awaitAnswers(Reason.OVER_LIMIT, crowd.answers(Reason.OVER_LIMIT) + 100);
        crowd.stop();
        return new Outcome(
            crowd.excess(),
            crowd.answers(Reason.UNCERTAIN) - before,
            Duration.ofNanos(crowd.slowestNanos()).toMillis(),
            Duration.ofNanos(back).toMillis());
      }
    } finally {
      stores.forEach(RedisStore::close);
    }
  }
}
