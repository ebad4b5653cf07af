package dev.weir.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class SummaryTest {
  private static final String SCENARIO =
      "\"keys\": \"1000\", \"draw\": \"uniform\", \"load\": \"all-allowed\"";

  private static String result(
      String benchmark, int threads, String params, String rawData, String bytes) {
    return """
    {"benchmark": "dev.weir.bench.%s", "threads": %d, "vmName": "A VM", "vmVersion": "17",
     "params": {%s},
     "primaryMetric": {"score": 1.0, "scoreError": "NaN", "scoreUnit": "ops/us", "rawData": %s},
     "secondaryMetrics": {"gc.alloc.rate.norm": {"score": %s}}}
    """
        .formatted(benchmark, threads, params, rawData, bytes);
  }

  private static String byString(String limiter, String rawData, String bytes) {
    String params = SCENARIO + ", \"limiter\": \"" + limiter + "\"";
    return result("ByStringKey.decision", 1, params, rawData, bytes);
  }

  @Test
  void rounds_areMergedAndComparedWithBucket4j() throws IOException {
    Summary summary = new Summary();
    summary.add(
        "["
            + byString("weir-token-bucket", "[[9.0, 6.0, 7.0]]", "120.4")
            + ","
            + byString("bucket4j", "[[2.0, 2.5], [100.0]]", "0.001")
            + "]");
    summary.add("[" + byString("weir-token-bucket", "[[6.0, 1.0]]", "120.0") + "]");
    summary.add("[" + result("ByFingerprint.batch", 1, SCENARIO, "[[10.0]]", "\"NaN\"") + "]");
    assertThat(summary.markdown())
        .isEqualTo(
            """
            JVM: A VM 17

            Millions of decisions a second (median); times Bucket4j; bytes allocated a decision.

            **1 thread, uniform**

            |  | 1 k keys, all-allowed |
            | --- | --- |
            | weir-token-bucket | 6.00; 2.40 x; 120 B |
            | bucket4j | 2.50; 1.00 x; 0 B |
            | weir, batch of 64 | 10.00; 4.00 x; - |
            """);
  }

  @Test
  void otherThreadsAndDraws_areNeverCompared() throws IOException {
    Summary summary = new Summary();
    summary.add(
        "["
            + byString("bucket4j", "[[2.0]]", "0")
            + ","
            + result("ByRule.decision", 2, SCENARIO, "[[3.0]]", "8")
            + "]");
    assertThat(summary.markdown())
        .contains("**1 thread, uniform**", "| bucket4j | 2.00; 1.00 x; 0 B |")
        .contains("**2 threads, uniform**", "| weir engine | 3.00; -; 8 B |");
  }

  @Test
  void benchmarkOfNoPlan_hasARowByItsName() throws IOException {
    Summary summary = new Summary();
    summary.add("[" + result("ByObservedRule.decision", 1, SCENARIO, "[[3.0]]", "8") + "]");
    assertThat(summary.markdown()).contains("| ByObservedRule.decision | 3.00; -; 8 B |");
  }

  @Test
  void whatIsNoResult_isRefused() {
    assertThatThrownBy(() -> new Summary().add("[{}]"))
        .hasMessage("params: missing (expected: a result of JMH 1.37)");
    String seconds = byString("guava", "[[1.0]]", "0").replace("ops/us", "ops/s");
    assertThatThrownBy(() -> new Summary().add("[" + seconds + "]"))
        .hasMessage("scoreUnit: ops/s (expected: ops/us)");
  }
}
