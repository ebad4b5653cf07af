package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.engine.load.InFlightLoad;
import dev.weir.engine.load.ProcessorLoad;
import dev.weir.rules.Problem;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import dev.weir.testkit.FakeTicker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunningEngineTest {
  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: user
          rate_limit: {window: 1s, requests_per_unit: 1}
      """;

  private static final Request USER = Request.of("d", "user", "a");

  private final FakeTicker ticker = new FakeTicker();
  private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

  @TempDir private Path folder;

  private final ReloadListener listener =
      new ReloadListener() {
        @Override
        public void applied(
            long revision, RuleSet rules, List<String> changes, List<Problem> warnings) {
          heard.add("revision " + revision + ", " + changes.size() + " changes");
        }

        @Override
        public void refused(long revision, List<Problem> problems) {
          heard.add("revision " + revision + " stays: " + problems.size() + " problems");
        }

        @Override
        public void failed(String what, Throwable error) {
          heard.add(what + ": " + error.getMessage());
        }
      };

  private RunningEngine.Builder builder() {
    return RunningEngine.builder().ticker(ticker).listener(listener);
  }

  private static Answer decide(Decider decider) {
    List<Answer> answers = new ArrayList<>();
    decider.decide(USER, answers::add);
    return answers.get(0);
  }

  private String next() throws InterruptedException {
    return String.valueOf(heard.poll(30, TimeUnit.SECONDS));
  }

  @Test
  void ruleFile_isInForce_andAgainWhenItChanges() throws Exception {
    Path file = Files.writeString(folder.resolve("rules.yaml"), RULES);
    try (RunningEngine engine = builder().rules(file).start()) {
      assertThat(next()).isEqualTo("revision 1, 0 changes");
      assertThat(decide(engine).allowed()).isTrue();
      assertThat(decide(engine).allowed()).isFalse();
      Files.writeString(file, RULES.replace("unit: 1", "unit: 3"));
      assertThat(next()).isEqualTo("revision 2, 1 changes");
      assertThat(decide(engine).allowed()).isTrue();
      Files.writeString(file, RULES.replace("unit: 1", "unit: many"));
      assertThat(next()).isEqualTo("revision 2 stays: 1 problems");
      assertThat(engine.engine().rules().rules()).hasSize(1);
    }
  }

  @Test
  void brokenRules_doNotStart() throws Exception {
    Path file = Files.writeString(folder.resolve("rules.yaml"), RULES.replace("1s", "1 moon"));
    assertThatThrownBy(() -> builder().rules(file).start())
        .isInstanceOf(RulesException.class)
        .hasMessageContaining("rules.yaml:4");
    assertThatThrownBy(() -> builder().rules(folder.resolve("none.yaml")).start())
        .isInstanceOf(RulesException.class)
        .hasMessageContaining("none.yaml");
  }

  @Test
  void reload_takesTheFilesAsTheyAreNow_orKeepsTheRules() throws Exception {
    Path file = Files.writeString(folder.resolve("rules.yaml"), RULES);
    try (RunningEngine engine = builder().rules(file).start()) {
      Files.writeString(file, RULES.replace("unit: 1", "unit: many"));
      assertThatThrownBy(engine::reload).isInstanceOf(RulesException.class);
      assertThat(engine.engine().revision()).isEqualTo(1);
    }
  }

  @Test
  void rulesFromAProgram_areChangedByApply() {
    try (RunningEngine engine = builder().rules(Fixture.rules(RULES)).start()) {
      assertThat(decide(engine).allowed()).isTrue();
      engine.apply(Fixture.rules(RULES.replace("unit: 1", "unit: 2")));
      assertThat(decide(engine).allowed()).isTrue();
      engine.reload();
      assertThat(engine.engine().revision()).isEqualTo(2);
    }
  }

  @Test
  void aSecondPasses_keysThatDoNotMatterGiveTheirMemoryBack() {
    try (RunningEngine engine = builder().rules(Fixture.rules(RULES)).start()) {
      decide(engine);
      assertThat(engine.engine().metrics().keys()).isEqualTo(1);
      for (int i = 0; i < 100; i++) {
        ticker.advance(Duration.ofSeconds(1));
      }
      assertThat(engine.engine().metrics().keys()).isZero();
    }
  }

  @Test
  void loadOfTheProcessors_isPolled_andUnknownWhenItIsOld() {
    double[] machine = {0.25};
    ProcessorLoad load = new ProcessorLoad(ticker, Duration.ofSeconds(2), () -> machine[0]);
    assertThat(load.load()).isNaN();
    RunningEngine engine = builder().rules(Fixture.rules(RULES)).load(load).start();
    assertThat(load.load()).isEqualTo(0.25);
    machine[0] = 0.75;
    ticker.advance(ProcessorLoad.PERIOD);
    assertThat(load.load()).isEqualTo(0.75);
    machine[0] = 0.5;
    ticker.advance(ProcessorLoad.PERIOD);
    assertThat(load.load()).as("the higher of two").isEqualTo(0.75);
    engine.close();
    assertThat(ticker.scheduled()).isZero();
    ticker.advance(Duration.ofSeconds(3));
    assertThat(load.load()).as("nobody polls any more").isNaN();
  }

  @Test
  void housekeepingFails_isSaid_andGoesOn() throws InterruptedException {
    int[] polls = {0};
    ProcessorLoad load =
        new ProcessorLoad(
            ticker,
            Duration.ofSeconds(2),
            () -> {
              if (++polls[0] == 2) {
                throw new IllegalStateException("no reading");
              }
              return 0.5;
            });
    try (RunningEngine engine = builder().rules(Fixture.rules(RULES)).load(load).start()) {
      assertThat(next()).startsWith("revision 1");
      ticker.advance(ProcessorLoad.PERIOD);
      assertThat(next()).isEqualTo("load: no reading");
      ticker.advance(ProcessorLoad.PERIOD);
      assertThat(polls[0]).isEqualTo(3);
      assertThat(engine.engine().revision()).isEqualTo(1);
    }
  }

  @Test
  void requestsInFlight_areAShareOfFullLoad() {
    InFlightLoad load = new InFlightLoad(4);
    load.add(3);
    load.add(-1);
    assertThat(load.load()).isEqualTo(0.5);
    assertThatThrownBy(() -> new InFlightLoad(0)).hasMessage("full: 0 (expected: at least 1)");
  }
}
