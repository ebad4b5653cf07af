package dev.weir.cluster.sim;

import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.cluster.Policies;
import dev.weir.cluster.sim.SimHistory.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** The clients of one simulated server. */
final class SimTraffic {
  private static final int WARM = 60;

  private final SimCluster cluster;
  private final SimServer server;
  private final SplittableRandom random;
  private boolean stopped;

  /**
   * The phase that selects the most requested rules; it changes, so that keys rest now and then.
   */
  private int phase;

  SimTraffic(SimCluster cluster, SimServer server) {
    this.cluster = cluster;
    this.server = server;
    random = cluster.scheduler.random;
  }

  void start() {
    cluster.scheduler.after(
        cluster.scheduler.between(Policies.MILLI, 30 * Policies.MILLI), this::more);
  }

  void stop() {
    stopped = true;
  }

  private void more() {
    if (stopped) {
      return;
    }
    phase += random.nextInt(40) == 0 ? 1 : 0;
    if (server.node.runs()) {
      int burst = random.nextInt(20) == 0 ? random.nextInt(1, 12) : 1;
      SimRule rule = rule();
      int key = key(rule);
      for (int i = 0; i < burst; i++) {
        request(rule, key);
      }
    }
    start();
  }

  private SimRule rule() {
    List<SimRule> rules = cluster.history.rules();
    int some = (rules.size() + 1) / 2;
    return random.nextInt(4) == 0
        ? rules.get(random.nextInt(rules.size()))
        : rules.get((phase + random.nextInt(some)) % rules.size());
  }

  private int key(SimRule rule) {
    return random.nextInt(3) > 0 ? random.nextInt(rule.hot) : rule.hot + random.nextInt(WARM);
  }

  private void request(SimRule rule, int key) {
    long permits = random.nextInt(5) == 0 ? random.nextLong(1, 4) : 1;
    switch (random.nextInt(12)) {
      case 0 -> several();
      case 1 -> {
        if (rule.consistency == Consistency.STRICT) {
          Charges queued = new Charges().add(server.binding(rule), rule.fingerprint(key), 1);
          request(queued.maxWait(random.nextLong(rule.windowNanos)), List.of(rule));
        }
      }
      case 2 -> {
        Charges peek = new Charges().add(server.binding(rule), rule.fingerprint(key), permits);
        server.store().decide(peek.peek(), server.node.monotonic().nanos(), done -> {});
      }
      default ->
          request(
              new Charges().add(server.binding(rule), rule.fingerprint(key), permits),
              List.of(rule));
    }
  }

  /** Requests several keys at once, in any groups. */
  private void several() {
    Charges charges = new Charges();
    List<SimRule> rules = new ArrayList<>();
    for (int i = random.nextInt(1, 4); i >= 0; i--) {
      SimRule rule = rule();
      charges.add(server.binding(rule), rule.fingerprint(key(rule)), random.nextLong(1, 3));
      rules.add(rule);
    }
    request(charges, rules);
  }

  private void request(Charges charges, List<SimRule> rules) {
    long now = cluster.scheduler.nanos();
    List<Check> checks = new ArrayList<>();
    for (int i = 0; i < charges.size(); i++) {
      long limit = charges.binding(i).policy().quota().permits();
      Check check = new Check(rules.get(i), charges.fingerprint(i), charges.permits(i), limit, now);
      for (Check other : checks) {
        if (other.fingerprint == check.fingerprint) {
          check.together += other.permits;
          other.together += check.permits;
        }
      }
      check.several = charges.size() > 1;
      check.node = server.node;
      checks.add(check);
      cluster.history.add(check);
    }
    server
        .store()
        .decide(
            charges,
            server.node.monotonic().nanos(),
            done -> answered(charges, checks, done.allowed()));
  }

  private void answered(Charges charges, List<Check> checks, boolean allowed) {
    for (int i = 0; i < checks.size(); i++) {
      Check check = checks.get(i);
      check.answered = true;
      check.answeredNanos = cluster.scheduler.nanos();
      check.allowed = allowed && charges.fits(i);
      check.reason = charges.reason(i);
      check.atNanos = charges.atNanos(i);
      check.waitNanos = charges.queued() && check.allowed ? charges.retryAfterNanos(i) : 0;
      if (check.allowed && random.nextInt(12) == 0) {
        Decision decision = charges.decision(i);
        var binding = charges.binding(i);
        check.refunded = true;
        server.node.run(
            cluster.scheduler.between(Policies.MILLI, check.rule.windowNanos),
            () ->
                server
                    .store()
                    .refund(
                        binding,
                        check.fingerprint,
                        check.permits,
                        decision,
                        server.node.monotonic().nanos(),
                        given -> {}));
      }
    }
  }
}
