package dev.weir.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.io.support.SpringFactoriesLoader;

class WeirFailureAnalyzerTest {
  @TempDir private Path folder;

  private static String description(String... properties) {
    String[] text = new String[1];
    Contexts.weir()
        .withPropertyValues(properties)
        .run(
            context -> {
              Throwable failure = context.getStartupFailure();
              assertThat(failure).isNotNull();
              FailureAnalysis analysis =
                  failure == null ? null : new WeirFailureAnalyzer().analyze(failure);
              text[0] = analysis == null ? "" : analysis.getDescription();
            });
    return String.valueOf(text[0]);
  }

  @Test
  void wrongProperties_areListed() {
    assertThat(description("weir.max-keys=0", "weir.queue.max-requests=-1"))
        .startsWith("Properties of Weir are wrong:\n\n    weir.max-keys: 0 (expected: at least 1)")
        .contains("\n    weir.queue.max-requests: -1 (expected: 0..1048576)");
  }

  @Test
  void wrongRules_areListedWithLineAndColumn() throws IOException {
    Path rules =
        Files.writeString(
            folder.resolve("rules.yaml"),
            """
            domain: shop
            descriptors:
              - key: ip
                rate_limit: {unit: fortnight, requests_per_unit: -1}
            """);
    assertThat(description("weir.rules=" + rules))
        .startsWith(
            "Rules of Weir have errors:\n\n    "
                + rules
                + ":4:18 unit: fortnight (expected: second")
        .contains("\n    " + rules + ":4:35 requests_per_unit: -1 (expected: 0..4294967295)");
  }

  @Test
  void otherFailures_areNotAnalysed() {
    assertThat(new WeirFailureAnalyzer().analyze(new IllegalStateException("other"))).isNull();
  }

  @Test
  void analyzer_isRegistered() {
    assertThat(
            SpringFactoriesLoader.forDefaultResourceLocation()
                .load(FailureAnalyzer.class, (type, name, failure) -> {}))
        .hasAtLeastOneElementOfType(WeirFailureAnalyzer.class);
  }
}
