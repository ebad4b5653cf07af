package dev.weir.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A measurement of one scenario by JMH.
 *
 * @param contender the limiter that was measured, in the words of the table
 * @param perMicrosecond the decisions per microsecond, one value for each iteration
 * @param bytesPerDecision the bytes allocated per decision, or NaN if that was not measured
 * @param jvm the version of Java
 */
record Reading(
    String contender,
    Scenario scenario,
    List<Double> perMicrosecond,
    double bytesPerDecision,
    String jvm) {

  /** The conditions that contenders must share to be compared. */
  record Scenario(int threads, String draw, int keys, String load) {}

  /** Reads one element of JMH's JSON result. */
  static Reading of(Object element) {
    Map<?, ?> run = (Map<?, ?>) element;
    Map<?, ?> params = (Map<?, ?>) at(run, "params");
    Map<?, ?> metric = (Map<?, ?>) at(run, "primaryMetric");
    if (!"ops/us".equals(at(metric, "scoreUnit"))) {
      throw new IllegalArgumentException(
          "scoreUnit: " + at(metric, "scoreUnit") + " (expected: ops/us)");
    }
    List<Double> values = new ArrayList<>();
    for (Object fork : (List<?>) at(metric, "rawData")) {
      for (Object value : (List<?>) fork) {
        values.add((Double) value);
      }
    }
    return new Reading(
        contender((String) at(run, "benchmark"), params),
        new Scenario(
            ((Double) at(run, "threads")).intValue(),
            (String) at(params, "draw"),
            Integer.parseInt((String) at(params, "keys")),
            (String) at(params, "load")),
        List.copyOf(values),
        bytesPerDecision((Map<?, ?>) at(run, "secondaryMetrics")),
        at(run, "vmName") + " " + at(run, "vmVersion"));
  }

  private static String contender(String benchmark, Map<?, ?> params) {
    String named = benchmark.substring(benchmark.lastIndexOf('.', benchmark.lastIndexOf('.') - 1));
    return switch (named) {
      case ".ByStringKey.decision", ".ByNumber.decision" -> (String) at(params, "limiter");
      case ".ByFingerprint.single" -> "weir by fingerprint";
      case ".ByFingerprint.batch" -> "weir, batch of " + ByFingerprint.BATCH;
      case ".ByBareTable.single" -> "a bare table";
      case ".ByBareTable.batch" -> "a bare table, batch of " + ByFingerprint.BATCH;
      case ".ByRule.decision" -> "weir engine";
      case ".ByRule.made" -> "weir engine, made for the call";
      case ".ByRule.alone" -> "weir engine, texts";
      case ".ByRule.batch" -> "weir engine, batch of " + ByFingerprint.BATCH;
      default -> named.substring(1); // It was run by its name, and is part of no plan.
    };
  }

  private static double bytesPerDecision(Map<?, ?> metrics) {
    for (Map.Entry<?, ?> metric : metrics.entrySet()) {
      if (String.valueOf(metric.getKey()).endsWith("gc.alloc.rate.norm")
          && at((Map<?, ?>) metric.getValue(), "score") instanceof Double bytes) {
        return bytes;
      }
    }
    return Double.NaN;
  }

  private static Object at(Map<?, ?> map, String name) {
    Object value = map.get(name);
    if (value == null) {
      throw new IllegalArgumentException(name + ": missing (expected: a result of JMH 1.37)");
    }
    return value;
  }
}
