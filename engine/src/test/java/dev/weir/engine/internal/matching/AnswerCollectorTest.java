package dev.weir.engine.internal.matching;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.Answer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AnswerCollectorTest {
  private final List<List<Answer>> handedOn = new ArrayList<>();
  private final AnswerCollector collector = new AnswerCollector(2, handedOn::add);

  private static Answer answer(String error) {
    return Answer.error(error, 1);
  }

  /**
   * Checks that no answer is passed on early: the receiver may wait for another decision, which a
   * store would still keep back.
   */
  @Test
  void answers_areNotHandedOnWhileMoreIsAsked() {
    Answer first = answer("first");
    Answer second = answer("second");
    collector.put(1, second);
    collector.put(0, first);
    assertThat(handedOn).isEmpty();
    collector.allSent();
    assertThat(handedOn).containsExactly(List.of(first, second));
  }

  @Test
  void lastAnswer_handsAllOn() {
    Answer first = answer("first");
    Answer second = answer("second");
    collector.put(0, first);
    collector.allSent();
    assertThat(handedOn).isEmpty();
    collector.put(1, second);
    assertThat(handedOn).containsExactly(List.of(first, second));
  }
}
