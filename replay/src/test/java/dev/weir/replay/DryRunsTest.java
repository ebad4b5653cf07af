package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.KeyPolicies;
import dev.weir.engine.SubjectLimits;
import dev.weir.replay.DryRuns.Refusal;
import dev.weir.replay.DryRuns.State;
import dev.weir.replay.DryRuns.Status;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DryRunsTest {
  private static final long HOUR = 3_600_000_000_000L;

  private final FakeTicker ticker = new FakeTicker(1_790_000_000_000_000_000L);
  private final RecordedTraffic traffic = new RecordedTraffic(ticker);
  private final DryRuns runs = new DryRuns(traffic, Masking.random(), DryRun.Limits.DEFAULTS);
  private final RuleSet rules =
      Objects.requireNonNull(
          Rules.parse("r.yaml", Trial.rules("", 2, "minute") + "      by: key\n").ruleSet());

  private DryRun.Change change(KeyPolicies policies) {
    return new DryRun.Change(rules, rules, Map.of(), Map.of(), policies);
  }

  private String started() {
    DryRuns.StartedRun started = runs.start(change(KeyPolicies.NONE), HOUR);
    assertThat(started.refusal()).isNull();
    return started.id();
  }

  /** Limits that hold up a run at its first look-up, until the test releases it. */
  private static final class Held implements KeyPolicies {
    private final CountDownLatch inside = new CountDownLatch(1);
    private final CountDownLatch letGo = new CountDownLatch(1);

    @Override
    public @Nullable SubjectLimits find(String domain, String key, String value) {
      inside.countDown();
      try {
        letGo.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return SubjectLimits.NONE;
    }

    @Override
    public void load(
        String domain, String key, String value, Consumer<? super @Nullable SubjectLimits> done) {
      done.accept(SubjectLimits.NONE);
    }
  }

  private Status ended(String id) throws InterruptedException {
    long deadline = System.nanoTime() + 120_000_000_000L;
    Status status = runs.find(id).orElseThrow();
    while (status.state() == State.RUNNING) {
      assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
      Thread.onSpinWait();
      status = runs.find(id).orElseThrow();
    }
    return status;
  }

  private void request(int times) {
    for (int i = 0; i < times; i++) {
      ticker.advance(1);
      traffic.add(Request.of("d", "key", "value"));
    }
  }

  @Test
  void nothingRecorded_isRefused() {
    assertThat(runs.start(change(KeyPolicies.NONE), HOUR).refusal())
        .isEqualTo(Refusal.NOTHING_RECORDED);
    assertThat(runs.find("").isPresent()).isFalse();
  }

  @Test
  void run_endsWithItsResult() throws InterruptedException {
    request(3);
    Status status = ended(started());
    assertThat(status.state()).isEqualTo(State.DONE);
    assertThat(status.replayed()).isEqualTo(3);
    assertThat(status.came()).isEqualTo(3);
    assertThat(Objects.requireNonNull(status.done()).result().after().refused()).isEqualTo(1);
  }

  @Test
  void secondRun_isRefusedWhileOneRuns() throws InterruptedException {
    request(1_000);
    Held held = new Held();
    String first = runs.start(change(held), HOUR).id();
    held.inside.await();
    assertThat(runs.start(change(KeyPolicies.NONE), HOUR).refusal()).isEqualTo(Refusal.BUSY);
    assertThat(runs.find(first).orElseThrow().state()).isEqualTo(State.RUNNING);
    held.letGo.countDown();
    assertThat(ended(first).state()).isEqualTo(State.DONE);
    assertThat(ended(started()).state()).isEqualTo(State.DONE);
  }

  @Test
  void cancel_endsARunAndForgetsAResult() throws InterruptedException {
    request(1_000);
    Held held = new Held();
    String id = runs.start(change(held), HOUR).id();
    held.inside.await();
    assertThat(runs.cancel(id)).isTrue();
    held.letGo.countDown();
    Status status = ended(id);
    assertThat(status.state()).isEqualTo(State.CANCELLED);
    assertThat(status.done()).isNull();
    assertThat(runs.cancel(id)).isTrue();
    assertThat(runs.find(id)).isEmpty();
    assertThat(runs.cancel(id)).isFalse();
  }

  @Test
  void close_cancelsAndStartsNoMore() throws InterruptedException {
    request(1_000);
    Held held = new Held();
    String id = runs.start(change(held), HOUR).id();
    held.inside.await();
    runs.close();
    assertThat(ended(id).state()).isEqualTo(State.CANCELLED);
    assertThat(runs.start(change(KeyPolicies.NONE), HOUR).refusal()).isEqualTo(Refusal.CLOSED);
  }

  @Test
  void lastTen_areKept() throws InterruptedException {
    request(1);
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      ids.add(started());
      assertThat(ended(ids.get(i)).state()).isEqualTo(State.DONE);
    }
    assertThat(new HashSet<>(ids)).hasSize(12);
    assertThat(ids).allMatch(id -> id.matches("[0-9a-f]{32}"));
    assertThat(ids.stream().map(runs::find).map(java.util.Optional::isPresent))
        .startsWith(false, false, true)
        .endsWith(true);
  }
}
