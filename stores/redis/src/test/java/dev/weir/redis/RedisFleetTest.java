package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.redis.FleetMember.Answer;
import dev.weir.redis.FleetMember.Load;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import dev.weir.wire.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Four processes that share one Redis, with clocks that are hours apart. */
@Tag("container")
class RedisFleetTest {
  private static final int PROCESSES = 4;
  private static final long WINDOW_MILLIS = 500;
  private static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(WINDOW_MILLIS);
  private static final Duration ROUND = Duration.ofMillis(3_750);

  /** The most rounds: in one round, a busy machine may pause for whole windows. */
  private static final int MOST_ROUNDS = 6;

  /**
   * The most rounds until a limiter that is known to be wrong is found out, which depends on
   * chance.
   */
  private static final int MOST_RACES = 20;

  private static final Duration RACE = Duration.ofMillis(1_500);

  private static RedisServer server;
  private static Fleet fleet;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    fleet = Fleet.start(PROCESSES, server.uri());
  }

  @AfterAll
  static void stop() {
    fleet.close();
    server.close();
  }

  /** Returns a hot key and many others for each algorithm. */
  private static List<Load> loads(Consistency consistency) {
    long permits = consistency == Consistency.STRICT ? 20 : 60;
    List<Load> loads = new ArrayList<>();
    for (Algorithm algorithm : Algorithm.rates()) {
      loads.add(new Load(consistency, algorithm, permits, WINDOW_MILLIS, 1));
      loads.add(new Load(consistency, algorithm, 3, WINDOW_MILLIS, 12));
    }
    return loads;
  }

  private static List<Answer> of(int load, List<Answer> answers) {
    return answers.stream().filter(answer -> answer.load() == load).toList();
  }

  /** Returns by how many permits some window of the clients' clock certainly exceeds the bound. */
  private static long excess(List<Answer> answers, long bound) {
    List<Operation> history = new ArrayList<>();
    for (Answer each : answers) {
      history.add(
          new Operation(
              "key " + each.key(),
              each.permits(),
              each.startNanos(),
              each.endNanos(),
              each.allowed(),
              each.reason()));
    }
    return WindowChecker.certainExcess(history, WINDOW_NANOS, bound);
  }

  /** Returns by how many permits some window of Redis's own clock exceeds the bound. */
  private static long excessInRedis(List<Answer> answers, long bound) {
    List<Operation> history = new ArrayList<>();
    for (Answer each : answers) {
      if (each.allowed()) {
        history.add(Operation.admitted("key " + each.key(), each.permits(), each.atNanos()));
      }
    }
    return WindowChecker.certainExcess(history, WINDOW_NANOS, bound);
  }

  /**
   * Returns the documented excess of a consistency in each count; in two counts if a window of the
   * clients' clock can overlap two.
   */
  private static long slack(Policy policy) {
    if (policy.sharing().consistency() != Consistency.APPROXIMATE) {
      return 0;
    }
    double share = (double) policy.sharing().syncIntervalNanos() / policy.quota().windowNanos();
    long unrecorded = Math.max(1, (long) Math.floor(policy.quota().permits() * share));
    boolean aligned =
        policy.algorithm() == Algorithm.FIXED_WINDOW
            || policy.algorithm() == Algorithm.SLIDING_WINDOW_COUNTER;
    return (aligned ? 2L : 1L) * (PROCESSES - 1) * unrecorded;
  }

  /**
   * Returns the admitted share of the permits that could have been admitted: in each of the
   * consecutive windows, those that were requested, but at most the quota. A slow machine requests
   * less, and the share is the same.
   */
  private static double used(List<Answer> answers, long permits) {
    long first = answers.stream().mapToLong(Answer::startNanos).min().orElseThrow();
    Map<Long, Long> requested = new HashMap<>();
    Map<Long, Long> admitted = new HashMap<>();
    for (Answer each : answers) {
      long window = (each.startNanos() - first) / WINDOW_NANOS;
      requested.merge(window, each.permits(), Long::sum);
      admitted.merge(window, each.allowed() ? each.permits() : 0, Long::sum);
    }
    return most(admitted, permits) / (double) most(requested, permits);
  }

  /** Returns the sum of the windows' permits, of each window at most the quota. */
  private static long most(Map<Long, Long> windows, long permits) {
    return windows.values().stream().mapToLong(each -> Math.min(each, permits)).sum();
  }

  @Test
  void monotonicClocksOfAllProcesses_areOne() {
    for (int i = 0; i < PROCESSES; i++) {
      long before = System.nanoTime();
      long there = fleet.nanoTime(i);
      assertThat(there).isBetween(before, System.nanoTime());
    }
  }

  @Tag("once")
  @Test
  void strictFleet_everyAlgorithm_holdsItsBoundAndIsOfUse() {
    holdsItsBoundAndIsOfUse(Consistency.STRICT);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "STRICT")
  void fleet_everyAlgorithm_holdsItsBoundAndIsOfUse(Consistency consistency) {
    holdsItsBoundAndIsOfUse(consistency);
  }

  /** A pause of the machine can cost some windows their permits: one good round is enough. */
  private static void holdsItsBoundAndIsOfUse(Consistency consistency) {
    List<Load> loads = loads(consistency);
    double least = consistency == Consistency.LEASED ? 0.4 : 0.6;
    Map<Load, Double> most = new HashMap<>();
    for (int round = 0; round < MOST_ROUNDS; round++) {
      List<Answer> answers = fleet.fetch(loads, ROUND);
      for (int i = 0; i < loads.size(); i++) {
        Load load = loads.get(i);
        assertBound(load, of(i, answers));
        if (load.keys() == 1) {
          most.merge(load, used(of(i, answers), load.permits()), Math::max);
        }
      }
      if (most.values().stream().allMatch(used -> used > least)) {
        return;
      }
    }
    assertThat(most.values()).as("%s", most).allMatch(used -> used > least);
  }

  private static void assertBound(Load load, List<Answer> own) {
    Policy policy = load.policy();
    assertThat(own)
        .as("%s", load)
        .allMatch(a -> a.reason() == Reason.WITHIN_LIMIT || a.reason() == Reason.OVER_LIMIT);
    assertThat(excess(own, Oracle.bound(policy) + slack(policy))).as("%s", load).isZero();
    if (load.consistency() == Consistency.STRICT) {
      assertThat(excessInRedis(own, Oracle.bound(policy))).as("%s", load).isZero();
    }
  }

  @Test
  void fixedWindow_judgedAsASlidingOne_isFoundOut() {
    Load load = new Load(Consistency.STRICT, Algorithm.FIXED_WINDOW, 20, WINDOW_MILLIS, 1);
    long most = 0;
    long mostInRedis = 0;
    for (int i = 0; i < MOST_RACES && (most == 0 || mostInRedis == 0); i++) {
      List<Answer> answers = fleet.fetch(List.of(load), RACE);
      most = Math.max(most, excess(answers, load.permits()));
      mostInRedis = Math.max(mostInRedis, excessInRedis(answers, load.permits()));
    }
    assertThat(most).isPositive();
    assertThat(mostInRedis).isPositive();
  }

  @Test
  void limiterThatReadsAndThenWrites_isFoundOut() {
    Load load = new Load(Consistency.STRICT, Algorithm.FIXED_WINDOW, 20, WINDOW_MILLIS, 1);
    long most = 0;
    for (int i = 0; i < MOST_RACES && most == 0; i++) {
      most = excess(fleet.race(load, RACE), Oracle.bound(load.policy()));
    }
    assertThat(most).isPositive();
  }
}
