package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.rules.Request;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReloadTest {
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

    fixture.engine.apply(Fixture.rules("domain: d\ndescriptors:\n  - key: other\n"));
    fixture.engine.expire();
    assertThat(admitted(fixture.engine, 1)).isEqualTo(1);
    fixture.engine.apply(Fixture.rules(rule("unit: minute, requests_per_unit: 10")));

    assertThat(admitted(fixture.engine, 1)).isZero();
  }

  @Test
  void apply_removedRule_isForgottenWhenItCannotMatterAnyMore() {
    Fixture fixture = new Fixture(rule("unit: minute, requests_per_unit: 10"));
    admitted(fixture.engine, 10);

    fixture.engine.apply(Fixture.rules("domain: d\ndescriptors:\n  - key: other\n"));
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
