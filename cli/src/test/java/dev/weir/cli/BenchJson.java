package dev.weir.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A benchmark's result in JSON, as another program reads it. */
record BenchJson(Map<?, ?> root) {
  static BenchJson of(String text) {
    try (JsonParser in = new JsonFactory().createParser(text)) {
      in.nextToken();
      return new BenchJson((Map<?, ?>) Objects.requireNonNull(value(in)));
    } catch (IOException e) {
      throw new AssertionError(text, e);
    }
  }

  private static @Nullable Object value(JsonParser in) throws IOException {
    if (in.currentToken() == JsonToken.START_OBJECT) {
      Map<String, @Nullable Object> fields = new LinkedHashMap<>();
      while (in.nextToken() != JsonToken.END_OBJECT) {
        String name = in.currentName();
        in.nextToken();
        fields.put(name, value(in));
      }
      return fields;
    }
    if (in.currentToken() == JsonToken.START_ARRAY) {
      List<@Nullable Object> values = new ArrayList<>();
      while (in.nextToken() != JsonToken.END_ARRAY) {
        values.add(value(in));
      }
      return values;
    }
    return switch (in.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_TRUE, VALUE_FALSE -> in.getBooleanValue();
      case VALUE_STRING -> in.getText();
      default -> in.getDoubleValue();
    };
  }

  double number(String name) {
    return number(root, name);
  }

  static double number(Map<?, ?> object, String name) {
    return (Double) Objects.requireNonNull(object.get(name));
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
