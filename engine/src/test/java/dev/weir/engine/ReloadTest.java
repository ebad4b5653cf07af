package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Binding;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReloadTest {
  private static final String OTHER_RULES =
      """
      domain: d
      descriptors:
        - key: other
          rate_limit: {unit: day, requests_per_unit: 1}
      """;

  private static String rule(String limit) {
    return "domain: d\ndescriptors:\n  - key: user\n    rate_limit: {" + limit + "}\n";
  }

  private static int admitted(Engine engine, int asked) {
    Request request = Request.of("d", "user", "a");
    return (int) IntStream.range(0, asked).filter(i -> engine.decide(request).allowed()).count();
  }

  @Test
  void apply_newLimit_keepsWhatWasUsed() {
    Fixture fixture = new Fixture(rule("unit: minute, requests_per_unit: 10"));
    assertThat(admitted(fixture.engine, 20)).isEqualTo(10);

    fixture.engine.apply(Fixture.rules(rule("unit: minute, requests_per_unit: 15")));

    assertThat(admitted(fixture.engine, 20)).isEqualTo(5);
    assertThat(fixture.engine.revision()).isEqualTo(2);
    assertThat(fixture.engine.metrics().reloads()).isEqualTo(2);
    assertThat(fixture.engine.metrics().rules().get(0).withinLimit()).isEqualTo(15);
  }

  @Test
  void apply_flappingEverything_admitsAtMostTheLargestQuota() {
    List<String> limits =
        List.of(
            "unit: minute, requests_per_unit: 10",
            "unit: minute, requests_per_unit: 20",
            "unit: minute, requests_per_unit: 20, algorithm: sliding-window-counter",
            "unit: minute, requests_per_unit: 15, algorithm: fixed-window",
            "unit: hour, requests_per_unit: 20",
            "unit: minute, requests_per_unit: 20, algorithm: token-bucket",
            "window: 2m, requests_per_unit: 20, algorithm: sliding-window-buckets");
    Fixture fixture = new Fixture(rule(limits.get(0)));
    fixture.ticker.set(60_000_000_000L);

    int admitted = 0;
    for (int i = 0; i < 200; i++) {
      admitted += admitted(fixture.engine, 7);
      fixture.engine.apply(Fixture.rules(rule(limits.get(i % limits.size()))));
    }

    assertThat(admitted).isEqualTo(20);
  }

  @Test
  void apply_ruleRemovedAndBack_isRemembered() {
    Fixture fixture = new Fixture(rule("unit: minute, requests_per_unit: 10"));
    admitted(fixture.engine, 10);

    fixture.engine.apply(Fixture.rules(OTHER_RULES));
    fixture.engine.expire();
    assertThat(admitted(fixture.engine, 1)).isEqualTo(1);
    fixture.engine.apply(Fixture.rules(rule("unit: minute, requests_per_unit: 10")));

    assertThat(admitted(fixture.engine, 1)).isZero();
  }

  @Test
  void apply_removedRule_isForgottenWhenItCannotMatterAnyMore() {
    Fixture fixture = new Fixture(rule("unit: minute, requests_per_unit: 10"));
    admitted(fixture.engine, 10);

    fixture.engine.apply(Fixture.rules(OTHER_RULES));
    fixture.ticker.advance(121_000_000_000L);
    fixture.engine.expire();

    assertThat(fixture.engine.metrics().keys()).isZero();
    assertThat(fixture.engine.metrics().bytes()).isZero();
  }

  @Test
  void apply_tooManyShapes_isRefusedAndTheRulesBeforeStay() {
    Fixture fixture = new Fixture(rule("window: 1h, requests_per_unit: 1"));
    for (int hours = 2; hours <= 8; hours++) {
      fixture.engine.apply(
          Fixture.rules(rule("window: " + hours + "h, requests_per_unit: " + hours)));
    }

    assertThatThrownBy(
            () -> fixture.engine.apply(Fixture.rules(rule("window: 9h, requests_per_unit: 9"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("rule d.user");

    assertThat(fixture.engine.revision()).isEqualTo(8);
    assertThat(fixture.engine.metrics().reloadFailures()).isEqualTo(1);
    assertThat(admitted(fixture.engine, 20)).isEqualTo(8);
  }

  /** A store without memory for the limits of some names, new or only changed. */
  private static final class FullStore extends ForwardingStore<MemoryStore> {
    private final Set<String> known = new HashSet<>();
    private String refused = "none";

    FullStore() {
      super(new MemoryStore());
    }

    @Override
    public Binding bind(String name, Policy policy, long nowNanos) {
      if (name.contains(refused)) {
        throw new OutOfMemoryError("pretended");
      }
      known.add(name);
      return delegate.bind(name, policy, nowNanos);
    }

    @Override
    public void retire(String name, long nowNanos) {
      known.remove(name);
      delegate.retire(name, nowNanos);
    }
  }

  @Test
  void apply_outOfMemoryHalfWay_leavesNothingBehind() {
    String before = rule("unit: minute, requests_per_unit: 10");
    FullStore store = new FullStore();
    Fixture fixture = new Fixture(before, EngineSettings.DEFAULTS, store);
    assertThat(admitted(fixture.engine, 4)).isEqualTo(4);
    String more = rule("unit: hour, requests_per_unit: 50");
    for (int i = 0; i < 20; i++) {
      more += "  - key: k" + i + "\n    rate_limit: {unit: minute, requests_per_unit: 1}\n";
    }
    RuleSet next = Fixture.rules(more);

    store.refused = "d.k17";
    assertThatThrownBy(() -> fixture.engine.apply(next)).isInstanceOf(OutOfMemoryError.class);

    assertThat(fixture.engine.revision()).isEqualTo(1);
    assertThat(fixture.engine.metrics().reloadFailures()).isEqualTo(1);
    assertThat(fixture.engine.metrics().reloads()).isEqualTo(1);
    assertThat(fixture.engine.metrics().rules())
        .extracting(RuleMetrics::path)
        .containsOnly("d.user");
    assertThat(store.known).containsExactly("rule d.user");
    assertThat(admitted(fixture.engine, 20)).isEqualTo(6);

    store.refused = "none";
    fixture.engine.apply(next);
    assertThat(fixture.engine.revision()).isEqualTo(2);
    assertThat(fixture.engine.metrics().rules()).hasSize(21);
    assertThat(admitted(fixture.engine, 60)).isEqualTo(40);
  }

  /** Fails to take back one rule: all others are taken back. */
  @Test
  void apply_outOfMemoryWhileTakingBack_takesTheOthersBack() {
    FullStore store = new FullStore();
    String before = rule("unit: minute, requests_per_unit: 10");
    before += "  - key: z\n    rate_limit: {unit: minute, requests_per_unit: 1}\n";
    Fixture fixture = new Fixture(before, EngineSettings.DEFAULTS, store);
    String next = rule("unit: minute, requests_per_unit: 50");
    next += "  - key: y\n    rate_limit: {unit: minute, requests_per_unit: 1}\n";
    next += "  - key: z\n    rate_limit: {unit: minute, requests_per_unit: 2}\n";
    RuleSet changed = Fixture.rules(next);

    store.refused = "d.z";
    assertThatThrownBy(() -> fixture.engine.apply(changed)).isInstanceOf(OutOfMemoryError.class);

    assertThat(fixture.engine.metrics().rules()).hasSize(2);
    assertThat(admitted(fixture.engine, 60)).isEqualTo(10);
  }

  @Test
  void apply_whileManyDecide_admitsExactlyTheLimit() throws Exception {
    Fixture fixture =
        new Fixture(
            rule("unit: hour, requests_per_unit: 5000"),
            EngineSettings.DEFAULTS,
            new MemoryStore());
    List<String> limits =
        List.of(
            rule("unit: hour, requests_per_unit: 5000, algorithm: sliding-window-log"),
            rule("unit: hour, requests_per_unit: 5000, algorithm: sliding-window-counter"),
            rule("unit: hour, requests_per_unit: 4000, algorithm: token-bucket"),
            rule("unit: day, requests_per_unit: 5000"));
    AtomicInteger admitted = new AtomicInteger();
    CountDownLatch start = new CountDownLatch(1);
    ExecutorService threads = Executors.newFixedThreadPool(5);
    try {
      List<Future<?>> deciding =
          IntStream.range(0, 4)
              .<Future<?>>mapToObj(
                  i ->
                      threads.submit(
                          () -> {
                            start.await();
                            admitted.addAndGet(admitted(fixture.engine, 5000));
                            return null;
                          }))
              .toList();
      start.countDown();
      for (int i = 0; deciding.stream().anyMatch(each -> !each.isDone()); i++) {
        fixture.engine.apply(Fixture.rules(limits.get(i % limits.size())));
      }
      for (Future<?> each : deciding) {
        each.get();
      }
    } finally {
      threads.shutdownNow();
    }
    fixture.engine.apply(Fixture.rules(rule("unit: hour, requests_per_unit: 5000")));
    admitted.addAndGet(admitted(fixture.engine, 5000));

    assertThat(admitted.get()).isEqualTo(5000);
  }
}
