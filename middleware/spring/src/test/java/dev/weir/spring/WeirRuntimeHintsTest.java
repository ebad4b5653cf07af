package dev.weir.spring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

class WeirRuntimeHintsTest {
  @Test
  void rulesOnTheClassPath_areKept() {
    RuntimeHints hints = new RuntimeHints();
    new WeirRuntimeHints().registerHints(hints, getClass().getClassLoader());
    assertThat(RuntimeHintsPredicates.resource().forResource("weir.yaml")).accepts(hints);
    assertThat(RuntimeHintsPredicates.resource().forResource("other.yaml")).rejects(hints);
  }
}
