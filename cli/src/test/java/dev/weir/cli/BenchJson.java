package dev.weir.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A benchmark's result in JSON, as another program reads it. */
record BenchJson(Map<?, ?> root) {
  static BenchJson of(String text) {
    try {
      return new BenchJson(new JsonMapper().readValue(text, Map.class));
    } catch (JsonProcessingException e) {
      throw new AssertionError(text, e);
    }
  }

  double number(String name) {
    return number(root, name);
  }

  static double number(Map<?, ?> object, String name) {
    return ((Number) Objects.requireNonNull(object.get(name))).doubleValue();
  }

  boolean isNull(String name) {
    return root.containsKey(name) && root.get(name) == null;
  }

  Map<?, ?> object(String name) {
    return (Map<?, ?>) Objects.requireNonNull(root.get(name));
  }

  List<Map<?, ?>> seconds() {
    List<Map<?, ?>> seconds = new ArrayList<>();
    ((List<?>) Objects.requireNonNull(root.get("seconds")))
        .forEach(second -> seconds.add((Map<?, ?>) second));
    return seconds;
  }

  List<String> fields(String name) {
    return object(name).keySet().stream().map(String::valueOf).toList();
  }
}
