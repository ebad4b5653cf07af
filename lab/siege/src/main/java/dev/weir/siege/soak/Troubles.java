package dev.weir.siege.soak;

import dev.weir.siege.Complaints;
import dev.weir.siege.ServerProcess;
import dev.weir.siege.faults.StoreFault;
import dev.weir.siege.guests.Attack;
import dev.weir.siege.guests.Guest;
import dev.weir.siege.guests.Protocol;
import dev.weir.wire.testkit.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The troubles of a soak, again and again: attacks, faults of the store, changes of files. Each
 * kind has its own thread, and after each trouble the servers are checked.
 */
final class Troubles {
  /** The duration of an attack. */
  private static final Duration ATTACK = Duration.ofSeconds(8);

  /** The factor by which files change more often than other troubles occur. */
  private static final int CHANGES = 3;

  /** The share of changes that also change the tokens: one in so many. */
  private static final int TOKENS = 3;

  private static final Duration MOMENT = Duration.ofMillis(50);

  private final Soak.Plan plan;
  private final List<ServerProcess> servers;
  private final SoakFiles files;
  private final WindowWatch watch;
  private final Complaints complaints;
  private final CountDownLatch over;
  private final List<Thread> threads = new ArrayList<>();
  private final Queue<String> events = new ConcurrentLinkedQueue<>();
  private final Map<String, String> outcomes = new ConcurrentHashMap<>();

  /**
   * Creates troubles.
   *
   * @param over the latch that ends them
   */
  Troubles(
      Soak.Plan plan,
      List<ServerProcess> servers,
      SoakFiles files,
      WindowWatch watch,
      Complaints complaints,
      CountDownLatch over) {
    this.plan = plan;
    this.servers = List.copyOf(servers);
    this.files = files;
    this.watch = watch;
    this.complaints = complaints;
    this.over = over;
  }

  /** A trouble, which receives the number of its occurrences so far. */
  private interface Trouble {
    void happen(int number) throws IOException, InterruptedException;
  }

  /** Starts the troubles. */
  void start(RedisServer redis) {
    start("attacks", plan.rest(), this::attack);
    start("store", plan.rest(), number -> fail(redis, number));
    start("files", plan.rest().dividedBy(CHANGES), this::change);
  }

  private void start(String name, Duration rest, Trouble trouble) {
    Thread thread = new Thread(() -> repeat(name, rest, trouble), "soak " + name);
    threads.add(thread);
    thread.start();
  }

  private void repeat(String name, Duration rest, Trouble trouble) {
    try {
      for (int i = 0; pause(rest); i++) {
        try {
          trouble.happen(i);
        } catch (IOException | RuntimeException e) {
          complaints.add(name + ": " + e);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits; returns false once the soak is over. */
  private boolean pause(Duration time) throws InterruptedException {
    return !over.await(time.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Waits until all troubles have ended. */
  void join() throws InterruptedException {
    for (Thread each : threads) {
      each.join();
    }
  }

  /** Returns the events since the last call. */
  List<String> happened() {
    List<String> happened = new ArrayList<>();
    for (String event = events.poll(); event != null; event = events.poll()) {
      happened.add(event);
    }
    return happened;
  }

  /** Returns the result of each attack when it was last made. */
  Map<String, String> outcomes() {
    return new TreeMap<>(outcomes);
  }

  private void attack(int number) throws IOException {
    Attack attack = plan.attacks().get(number % plan.attacks().size());
    int victim = (number + number / plan.attacks().size()) % servers.size();
    ServerProcess server = servers.get(victim);
    Resources before = server.resources();
    events.add(attack + " at " + SoakReport.name(victim));
    outcomes.put(attack.toString(), attack.run(server.target(), ATTACK).toString());
    Resources after = server.resources();
    long deadline = System.nanoTime() + plan.recovery().toNanos();
    while (!after.backTo(before) && System.nanoTime() - deadline < 0) {
      after = server.resources();
    }
    if (!after.backTo(before)) {
      complaints.add("after " + attack + ": " + after + " (expected: about " + before + ")");
    }
  }

  private void fail(RedisServer redis, int number) throws IOException, InterruptedException {
    StoreFault[] all = StoreFault.values();
    StoreFault fault = all[number % all.length];
    events.add(fault.toString());
    fault.run(redis, watch, this::pause);
    for (ServerProcess server : servers) {
      awaitStore(server, fault, number);
    }
  }

  /** Waits until a request for an unused key is admitted again. */
  private void awaitStore(ServerProcess server, StoreFault fault, int number)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + plan.recovery().toNanos();
    try (Guest guest = Protocol.CHECK.connect(server.target())) {
      for (int i = 0; over.getCount() > 0; i++) {
        String key = "after-" + number + "-" + server.target().resp() + "-" + i;
        if (guest.request(SoakRules.STRICT.name(), key).allowed()) {
          return;
        }
        if (System.nanoTime() - deadline > 0) {
          complaints.add("after " + fault + ": a fresh key is refused for " + plan.recovery());
          return;
        }
        pause(MOMENT);
      }
    }
  }

  private void change(int number) throws IOException, InterruptedException {
    List<Long> revisions = new ArrayList<>();
    for (ServerProcess server : servers) {
      revisions.add(server.metrics().value("weir_rule_revision"));
    }
    files.writeRules(number % 2 == 1);
    String taken = files.token();
    boolean tokens = number % TOKENS == TOKENS - 1;
    if (tokens) {
      files.replaceToken();
    }
    events.add(tokens ? "rules and tokens" : "rules");
    for (int i = 0; i < servers.size(); i++) {
      ServerProcess server = servers.get(i);
      long revision = revisions.get(i);
      await("new rules", i, () -> server.metrics().value("weir_rule_revision") > revision);
      if (tokens) {
        await("a new token", i, () -> files.accepted(server.target(), files.token()));
        await("the end of a token", i, () -> !files.accepted(server.target(), taken));
      }
    }
  }

  /** A check that may fail because a server does not answer. */
  private interface Question {
    boolean yes() throws IOException;
  }

  private void await(String what, int server, Question question)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + plan.recovery().toNanos();
    while (over.getCount() > 0 && !question.yes()) {
      if (System.nanoTime() - deadline > 0) {
        complaints.add(
            SoakReport.name(server) + ": " + what + " not in force after " + plan.recovery());
        return;
      }
      pause(MOMENT);
    }
  }
}
