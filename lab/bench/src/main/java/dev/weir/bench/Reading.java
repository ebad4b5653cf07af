package dev.weir.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
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

  /** Reads JMH's JSON results. */
  static List<Reading> all(String json) throws JsonProcessingException {
    List<Reading> readings = new ArrayList<>();
    for (JsonNode run : new JsonMapper().readTree(json)) {
      readings.add(of(run));
    }
    return readings;
  }

  private static Reading of(JsonNode run) {
    JsonNode params = at(run, "params");
    JsonNode metric = at(run, "primaryMetric");
    String unit = at(metric, "scoreUnit").asText();
    if (!unit.equals("ops/us")) {
      throw new IllegalArgumentException("scoreUnit: " + unit + " (expected: ops/us)");
    }
    List<Double> values = new ArrayList<>();
    for (JsonNode fork : at(metric, "rawData")) {
      fork.forEach(value -> values.add(value.doubleValue()));
    }
    return new Reading(
        contender(at(run, "benchmark").asText(), params),
        new Scenario(
            at(run, "threads").intValue(),
            params.path("draw").asText("uniform"), // Some have no choice.
            at(params, "keys").asInt(),
            params.path("load").asText("all-allowed")),
        List.copyOf(values),
        bytesPerDecision(at(run, "secondaryMetrics")),
        at(run, "vmName").asText() + " " + at(run, "vmVersion").asText());
  }

  private static String contender(String benchmark, JsonNode params) {
    String named = benchmark.substring(benchmark.lastIndexOf('.', benchmark.lastIndexOf('.') - 1));
    return switch (named) {
      case ".ByStringKey.decision", ".ByNumber.decision", ".ByQuotas.decision" ->
          at(params, "limiter").asText();
      case ".ByFingerprint.single" -> "weir by fingerprint";
      case ".ByFingerprint.batch" -> "weir, batch of " + ByFingerprint.BATCH;
      case ".ByBareTable.single" -> "a bare table";
      case ".ByBareTable.batch" -> "a bare table, batch of " + ByFingerprint.BATCH;
      case ".ByRule.decision" -> "weir engine";
      case ".ByRule.made" -> "weir engine, made for the call";
      case ".ByRule.alone" -> "weir engine, texts";
      case ".ByRule.batch" -> "weir engine, batch of " + ByFingerprint.BATCH;
      default -> // It was run by its name, and is part of no plan.
          named.substring(1) + ofItsOwn(params);
    };
  }

  /** Returns the parameters that are no part of a scenario, for example an algorithm. */
  private static String ofItsOwn(JsonNode params) {
    StringBuilder text = new StringBuilder();
    for (String each : List.of("algorithm", "durability")) {
      if (params.has(each)) {
        text.append(", ").append(params.get(each).asText());
      }
    }
    return text.toString();
  }

  private static double bytesPerDecision(JsonNode metrics) {
    for (Map.Entry<String, JsonNode> metric : metrics.properties()) {
      if (metric.getKey().endsWith("gc.alloc.rate.norm")) {
        return at(metric.getValue(), "score").asDouble(Double.NaN);
      }
    }
    return Double.NaN;
  }

  private static JsonNode at(JsonNode object, String name) {
    JsonNode value = object.get(name);
    if (value == null) {
      throw new IllegalArgumentException(name + ": missing (expected: a result of JMH 1.37)");
    }
    return value;
  }
}
