package dev.weir.cli.command;

import dev.weir.config.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An object of JSON that a server has sent. A member that is missing or null counts as empty; a
 * member of another type than requested is a {@link CommandFailure}.
 */
public record JsonObject(Map<String, @Nullable Object> members) {
  public static JsonObject read(String text) {
    try {
      return new JsonObject(Json.readWithNulls(text).without(Set.of()));
    } catch (IOException e) {
      throw new CommandFailure(
          "the answer cannot be read: "
              + e.getMessage()
              + " (expected: a 'weir serve' as old"
              + " or as new as this command)",
          e);
    }
  }

  public static JsonObject of(@Nullable Object object) {
    if (!(object instanceof Map<?, ?> map)) {
      throw wrong("answer", object, "an object");
    }
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    map.forEach((name, value) -> members.put((String) name, value));
    return new JsonObject(members);
  }

  public boolean has(String name) {
    return members.containsKey(name);
  }

  /** Returns a text, or an empty one; numbers and truths are written as texts. */
  public String text(String name) {
    Object value = members.get(name);
    if (value instanceof Map || value instanceof List) {
      throw wrong(name, value, "a text");
    }
    return value == null ? "" : value.toString();
  }

  /** Returns a whole number, or 0. */
  public long number(String name) {
    Object value = members.get(name);
    if (value == null) {
      return 0;
    }
    if (value instanceof Long number) {
      return number;
    }
    throw wrong(name, value, "a whole number");
  }

  public boolean isTrue(String name) {
    return Boolean.TRUE.equals(members.get(name));
  }

  public JsonObject object(String name) {
    Object value = members.get(name);
    return of(value == null ? Map.of() : value);
  }

  public List<?> list(String name) {
    Object value = members.get(name);
    if (value == null) {
      return List.of();
    }
    if (value instanceof List<?> list) {
      return list;
    }
    throw wrong(name, value, "a list");
  }

  public List<JsonObject> objects(String name) {
    List<JsonObject> objects = new ArrayList<>();
    list(name).forEach(each -> objects.add(of(each)));
    return objects;
  }

  public List<String> texts(String name) {
    return list(name).stream().map(String::valueOf).toList();
  }

  @Override
  public String toString() {
    return Json.writeAsIs(members);
  }

  private static CommandFailure wrong(String name, @Nullable Object value, String expected) {
    return new CommandFailure(
        "the answer cannot be read: " + name + ": " + value + " (expected: " + expected + ")");
  }
}
