package dev.weir.bench;

import dev.weir.Algorithm;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Ticker;
import dev.weir.engine.DecisionObserver;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.RequestBatch;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import java.util.List;
import java.util.function.Function;

/** An engine that limits users by token buckets, and a request of each user. For many threads. */
final class EngineKeys {
  private static final String DOMAIN = "bench";

  /**
   * The rules: a few around the one that matches, because a rule set of one would be found too
   * easily.
   */
  private static final String RULES =
      """
      domain: bench
      descriptors:
        - key: path
          value: /login
          rate_limit: { requests_per_unit: 5, unit: minute }
        - key: path
          value: /static*
          rate_limit: { unlimited: true }
        - key: tenant
          descriptors:
            - key: user
              rate_limit: { requests_per_unit: 100, unit: minute }
        - key: user
          rate_limit: { %s, algorithm: token-bucket }
      """;

  private final Engine engine;
  private final Request[] requests;
  private final String[] users;

  EngineKeys(int keys, Load load, Ticker ticker) {
    engine = Engine.create(new MemoryStore(Keys.MOST), ticker, EngineSettings.DEFAULTS);
    engine.apply(rules(load));
    Policy policy = load.policy(Algorithm.TOKEN_BUCKET);
    long fillPermits = load.fillPermits(policy);
    requests = new Request[keys];
    users = new String[keys];
    for (int i = 0; i < keys; i++) {
      users[i] = Keys.key(i);
      List<Descriptor> descriptors = List.of(Descriptor.of("user", users[i]));
      engine.decide(new Request(DOMAIN, descriptors, fillPermits));
      requests[i] = new Request(DOMAIN, descriptors, 1);
    }
  }

  /** Adds an observer to this engine. */
  void observe(Function<Engine, DecisionObserver> observer) {
    engine.observe(observer.apply(engine));
  }

  private static RuleSet rules(Load load) {
    String limit =
        load == Load.ALL_ALLOWED
            ? "requests_per_unit: %d, unit: hour, burst: %d"
                .formatted(Load.TRICKLE.permits(), Load.AMPLE)
            : "requests_per_unit: 1, unit: day";
    Rules.LoadResult loaded = Rules.parse("bench.yaml", RULES.formatted(limit));
    RuleSet rules = loaded.ruleSet();
    if (rules == null) {
      throw new IllegalStateException("rules: " + loaded.problems());
    }
    return rules;
  }

  /** Requests one permit for that user. */
  boolean decide(int key) {
    return engine.decide(requests[key]).allowed();
  }

  /** Requests one permit by a request that is made now. */
  boolean decideNew(int key) {
    List<Entry> entries = List.of(new Entry("user", users[key]));
    List<Descriptor> descriptors = List.of(new Descriptor(entries, null, null));
    return engine.decide(new Request(DOMAIN, descriptors, 1)).allowed();
  }

  /** Returns an empty batch of so many requests. */
  RequestBatch batch(int capacity) {
    return engine.batch(capacity);
  }

  /**
   * Requests one permit for each of many users, in one call.
   *
   * @param texts an array with room for two texts
   * @return the number of permits granted
   */
  int decide(RequestBatch batch, String[] texts, int[] keys, int from, int count) {
    batch.clear();
    texts[0] = "user";
    for (int i = from; i < from + count; i++) {
      texts[1] = users[keys[i]];
      if (!batch.add(DOMAIN, texts, 2, 1)) {
        throw new IllegalStateException("rules: not decided here");
      }
    }
    batch.decide();
    int fit = 0;
    for (int i = 0; i < count; i++) {
      fit += batch.allowed(i) ? 1 : 0;
    }
    return fit;
  }
}
