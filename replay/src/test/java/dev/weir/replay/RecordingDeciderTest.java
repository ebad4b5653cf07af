package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.Ticket;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RecordingDeciderTest {
  private final FakeTicker ticker = new FakeTicker(1_790_000_000_000_000_000L);
  private final RecordedTraffic traffic = new RecordedTraffic(ticker);
  private final Request request = Request.of("d", "key", "value");

  private List<Request> recorded() {
    List<Request> all = new ArrayList<>();
    RecordedRequests.Cursor cursor = traffic.requests(60_000_000_000L, 100).cursor();
    while (cursor.next()) {
      all.add(cursor.request());
    }
    return all;
  }

  @Test
  void decisions_areRecordedAndAnswered() {
    List<Boolean> answers = new ArrayList<>();
    try (Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS)) {
      engine.apply(
          Objects.requireNonNull(
              Rules.parse("r.yaml", Trial.rules("fixed-window", 2, "minute")).ruleSet()));
      RecordingDecider decider = new RecordingDecider(engine, traffic);
      for (int i = 0; i < 3; i++) {
        decider.decide(request, answer -> answers.add(answer.allowed()));
      }
      assertThat(answers).containsExactly(true, true, false);
      assertThat(recorded()).containsExactly(request, request, request);
    }
  }

  @Test
  void lookingWaitingAndGivingBack_areNotRecorded() {
    try (Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS)) {
      engine.apply(
          Objects.requireNonNull(
              Rules.parse("r.yaml", Trial.rules("fixed-window", 1, "minute")).ruleSet()));
      RecordingDecider decider = new RecordingDecider(engine, traffic);
      List<Answer> answers = new ArrayList<>();
      List<Long> given = new ArrayList<>();
      decider.decide(request, answers::add);
      decider.peek(request, answers::add);
      Ticket unused = decider.enqueue(request, answers.get(1), 1, answers::add);
      decider.refund(request, answers.get(0), given::add);
      assertThat(answers).extracting(Answer::allowed).containsExactly(true, false, false);
      assertThat(given).containsExactly(1L);
      assertThat(recorded()).containsExactly(request);
    }
  }
}
