package dev.weir.bench;

import dev.weir.Fingerprint;
import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.config.Cause;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.OwnLimit;
import dev.weir.config.RecordWrite;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.follow.ConfigClient;
import dev.weir.engine.Engine;
import dev.weir.engine.KeyPolicies;
import dev.weir.engine.SubjectSettings;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A benchmark of a rule with {@code by}: the look-up of a subject whose limits are in memory, and a
 * decision by a rule with and without {@code by}. One in a hundred subjects has a record. Nearly
 * every subject is in memory; decisions are made for those only.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx6g")
@SuppressWarnings("NullAway.Init") // JMH sets the parameters and calls the method marked Setup.
public class BySubject {
  private static final String DOMAIN = "bench";
  private static final int RECORD_EVERY = 100;
  private static final long SLOT_BYTES = 16;

  private static final String RULES =
      """
      domain: bench
      descriptors:
        - key: user
          rate_limit: {requests_per_unit: 4000000000, unit: hour, algorithm: token-bucket, by: user}
        - key: client
          rate_limit: {requests_per_unit: 4000000000, unit: hour, algorithm: token-bucket}
      """;

  @Param({"1000000", "10000000"})
  public int subjects;

  @Param({"uniform", "zipf"})
  public String draw;

  private ConfigClient client;
  private KeyPolicies policies;
  private Engine engine;
  private String[] values;
  private Request[] byUser;
  private Request[] byClient;
  private int[] sequence;

  @Setup
  public void fill() {
    ConfigStore store = ConfigStores.inMemory(Ticker.wall());
    values = Keys.of(subjects);
    records(store);
    client =
        ConfigClient.builder(store, "bench")
            .cacheBytes(Long.highestOneBit(subjects) * 4 * SLOT_BYTES)
            .open();
    policies = client.subjects();
    load();
    engine =
        Engine.builder(new MemoryStore(Keys.MOST))
            .ticker(Ticker.system())
            .fingerprint(Fingerprint.random())
            .subjects(policies, SubjectSettings.DEFAULTS)
            .build();
    RuleSet rules = Rules.parse("bench.yaml", RULES).ruleSet();
    if (rules == null) {
      throw new IllegalStateException("rules: none");
    }
    engine.apply(rules);
    sequence = Draw.of(draw).sequence(subjects);
    List<String> known = atHand();
    byUser = new Request[Math.min(known.size(), 1_000_000)];
    byClient = new Request[byUser.length];
    for (int i = 0; i < byUser.length; i++) {
      byUser[i] = Request.of(DOMAIN, "user", known.get(i));
      byClient[i] = Request.of(DOMAIN, "client", known.get(i));
    }
  }

  private void records(ConfigStore store) {
    Cause cause = Cause.of("bench", "records");
    List<RecordWrite> writes = new ArrayList<>();
    for (int i = 0; i < subjects; i += RECORD_EVERY) {
      Subject subject = new Subject(DOMAIN, "user", values[i]);
      SubjectRecord record =
          i % (2 * RECORD_EVERY) == 0
              ? SubjectRecord.ofPlan(subject, "gold")
              : SubjectRecord.ofLimits(subject, OwnLimit.of("user", 1_000 + i));
      writes.add(RecordWrite.put(record, RecordWrite.ABSENT));
      if (writes.size() == ConfigStore.MAX_BATCH) {
        store.write(writes, cause);
        writes.clear();
      }
    }
    store.write(writes, cause);
  }

  /**
   * Loads the limits of all subjects; a subject that is refused because too many loads are under
   * way is loaded again.
   */
  private void load() {
    AtomicInteger known = new AtomicInteger();
    for (String value : values) {
      AtomicBoolean refused = new AtomicBoolean(true);
      while (refused.getAndSet(false)) {
        policies.load(
            DOMAIN,
            "user",
            value,
            limits -> {
              refused.set(limits == null);
              known.addAndGet(limits == null ? 0 : 1);
            });
      }
    }
    while (known.get() < values.length) {
      Thread.onSpinWait();
    }
  }

  /** Returns the subjects in memory; a few have left while the table grew. */
  private List<String> atHand() {
    List<String> found = new ArrayList<>();
    for (String value : values) {
      if (policies.find(DOMAIN, "user", value) != null) {
        found.add(value);
      }
    }
    return found;
  }

  @TearDown
  public void close() {
    engine.close();
    client.close();
  }

  @Benchmark
  public @Nullable Object find(Cursor cursor) {
    return policies.find(DOMAIN, "user", values[sequence[cursor.next()]]);
  }

  @Benchmark
  public boolean decisionBySubject(Cursor cursor) {
    return engine.decide(byUser[sequence[cursor.next()] % byUser.length]).allowed();
  }

  @Benchmark
  public boolean decisionByRule(Cursor cursor) {
    return engine.decide(byClient[sequence[cursor.next()] % byClient.length]).allowed();
  }
}
