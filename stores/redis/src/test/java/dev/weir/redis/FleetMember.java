package dev.weir.redis;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.Ticker;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * One process of a {@link Fleet}. It follows the commands on its standard input, a line for each
 * task, and prints a line when that is done.
 */
final class FleetMember {
  private static final int THREADS = 4;

  /**
   * The pause of a client after a refusal: without it, a process would get nothing but refusals.
   */
  private static final long PAUSE_NANOS = 100_000;

  /** One limit and its requested keys. Whole processes agree on it, so it has a text form too. */
  record Load(
      Consistency consistency, Algorithm algorithm, long permits, long windowMillis, int keys) {

    static Load parse(String text) {
      String[] words = text.split(",", -1);
      return new Load(
          Consistency.valueOf(words[0]),
          Algorithm.valueOf(words[1]),
          Long.parseLong(words[2]),
          Long.parseLong(words[3]),
          Integer.parseInt(words[4]));
    }

    @Override
    public String toString() {
      return consistency.name()
          + ","
          + algorithm.name()
          + ","
          + permits
          + ","
          + windowMillis
          + ","
          + keys;
    }

    Policy policy() {
      return Policy.builder(Quota.of(permits, Duration.ofMillis(windowMillis)))
          .name(toString())
          .algorithm(algorithm)
          .sharing(Sharing.STRICT.consistency(consistency))
          .build();
    }
  }

  /** A request and its answer, by this machine's monotonic clock, which all processes share. */
  record Answer(
      int load,
      int key,
      long permits,
      long startNanos,
      long endNanos,
      Reason reason,
      boolean allowed,
      long atNanos) {
    static Answer parse(String line) {
      String[] words = line.split(" ", -1);
      return new Answer(
          Integer.parseInt(words[0]),
          Integer.parseInt(words[1]),
          Long.parseLong(words[2]),
          Long.parseLong(words[3]),
          Long.parseLong(words[4]),
          Reason.valueOf(words[5]),
          Boolean.parseBoolean(words[6]),
          Long.parseLong(words[7]));
    }

    String line() {
      return load
          + " "
          + key
          + " "
          + permits
          + " "
          + startNanos
          + " "
          + endNanos
          + " "
          + reason
          + " "
          + allowed
          + " "
          + atNanos;
    }
  }

  /** A client that requests permits of one key. */
  private interface Client {
    Decision request(int load, int key, long permits);
  }

  private FleetMember() {}

  /**
   * Runs until its parent ends it.
   *
   * @param args the store's URI; the offset of this process's clock, in nanoseconds; how much
   *     faster it runs, in parts of a million
   */
  public static void main(String[] args) throws Exception {
    long offset = Long.parseLong(args[1]);
    long drift = Long.parseLong(args[2]);
    long begin = System.nanoTime();
    Ticker ticker =
        () -> {
          long passed = System.nanoTime() - begin;
          return Ticker.system().nanos() + offset + passed * drift / 1_000_000;
        };
    BufferedReader tasks =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    RedisClient raw = RedisClient.create(args[0]);
    try (RedisStore store =
        RedisStore.builder(args[0])
            .ticker(ticker)
            .timeout(Duration.ofSeconds(20))
            .log(System.err::println)
            .build()) {
      Redis.await(store::available);
      System.out.println("ready");
      for (String task = tasks.readLine(); task != null; task = tasks.readLine()) {
        System.out.println(perform(task.split(" ", -1), store, raw, ticker));
      }
    } finally {
      raw.shutdown();
    }
  }

  private static String perform(String[] task, RedisStore store, RedisClient raw, Ticker ticker)
      throws Exception {
    return switch (task[0]) {
      case "time" -> String.valueOf(System.nanoTime());
      case "ask" -> {
        List<Load> loads = new ArrayList<>();
        for (String load : task[4].split(";", -1)) {
          loads.add(Load.parse(load));
        }
        List<RateLimiter> limiters = new ArrayList<>();
        for (Load load : loads) {
          limiters.add(RateLimiter.builder(load.policy()).ticker(ticker).store(store).build());
        }
        Client client =
            (load, key, permits) -> limiters.get(load).tryAcquire("key " + key, permits);
        yield run(task, loads, List.of(client));
      }
      case "race" -> {
        List<Load> loads = List.of(Load.parse(task[4]));
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
          clients.add(readThenWrite(raw.connect().sync(), loads.get(0)));
        }
        yield run(task, loads, clients);
      }
      default ->
          throw new IllegalArgumentException("task: " + task[0] + " (expected: time, ask or race)");
    };
  }

  /**
   * Returns a limiter that is wrong on purpose: the value that it read may be old when it writes.
   */
  private static Client readThenWrite(RedisCommands<String, String> redis, Load load) {
    return (index, key, permits) -> {
      String name = "race " + key;
      String read = redis.get(name);
      long count = read == null ? 0 : Long.parseLong(read);
      boolean fits = count + permits <= load.permits();
      if (fits) {
        SetArgs args =
            read == null ? SetArgs.Builder.px(load.windowMillis()) : SetArgs.Builder.keepttl();
        redis.set(name, String.valueOf(count + permits), args);
      }
      return new Decision(
          fits,
          fits ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT,
          load.policy().name(),
          load.permits(),
          0,
          0,
          0,
          0);
    };
  }

  /**
   * Makes requests from its start to its end with that many threads, and writes down the answers.
   */
  private static String run(String[] task, List<Load> loads, List<Client> clients)
      throws IOException, InterruptedException {
    long start = Long.parseLong(task[1]);
    long end = Long.parseLong(task[2]);
    List<List<Answer>> answers = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      List<Answer> own = new ArrayList<>();
      answers.add(own);
      Client client = clients.get(i % clients.size());
      SplittableRandom random =
          new SplittableRandom(start + ProcessHandle.current().pid() * THREADS + i);
      Thread thread = new Thread(() -> request(client, loads, random, start, end, own));
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    List<String> lines = new ArrayList<>();
    answers.forEach(own -> own.forEach(answer -> lines.add(answer.line())));
    Files.write(Path.of(task[3]), lines);
    return "done";
  }

  private static void request(
      Client client,
      List<Load> loads,
      SplittableRandom random,
      long start,
      long end,
      List<Answer> answers) {
    while (System.nanoTime() - start < 0) {
      LockSupport.parkNanos(start - System.nanoTime());
    }
    while (System.nanoTime() - end < 0) {
      int load = random.nextInt(loads.size());
      int key = random.nextInt(loads.get(load).keys());
      long permits = random.nextInt(4) == 0 ? 2 : 1;
      long before = System.nanoTime();
      Decision decision = client.request(load, key, permits);
      long after = System.nanoTime();
      answers.add(
          new Answer(
              load,
              key,
              permits,
              before,
              after,
              decision.reason(),
              decision.allowed(),
              decision.atNanos()));
      if (!decision.allowed()) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }
}
