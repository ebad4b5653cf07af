package dev.weir.config;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Canonical JSON of maps, lists, texts, whole numbers and truths: members in the order of their
 * names, no spaces. Every value has one text, so that it can be hashed.
 */
final class Json {
  private static final JsonFactory FACTORY =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private Json() {}

  static String write(Map<String, ?> object) {
    StringWriter text = new StringWriter();
    try (JsonGenerator to = FACTORY.createGenerator(text)) {
      write(object, to);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Never: it is written to memory.
    }
    return text.toString();
  }

  private static void write(Object value, JsonGenerator to) throws IOException {
    if (value instanceof Map<?, ?> object) {
      Map<String, Object> sorted = new TreeMap<>();
      object.forEach((name, member) -> sorted.put((String) name, member));
      to.writeStartObject();
      for (Map.Entry<String, Object> member : sorted.entrySet()) {
        to.writeFieldName(member.getKey());
        write(member.getValue(), to);
      }
      to.writeEndObject();
    } else if (value instanceof List<?> items) {
      to.writeStartArray();
      for (Object item : items) {
        write(item, to);
      }
      to.writeEndArray();
    } else if (value instanceof Long number) {
      to.writeNumber(number);
    } else if (value instanceof Boolean truth) {
      to.writeBoolean(truth);
    } else {
      to.writeString((String) value);
    }
  }

  /**
   * Returns the members of an object.
   *
   * @throws IOException if the text is anything else
   */
  static Members read(String text) throws IOException {
    try (JsonParser from = FACTORY.createParser(text)) {
      if (from.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("no object (expected: {)");
      }
      Map<String, Object> object = object(from);
      if (from.nextToken() != null) {
        throw new IOException("more behind the object (expected: its end)");
      }
      return new Members(object);
    }
  }

  private static Map<String, Object> object(JsonParser from) throws IOException {
    Map<String, Object> members = new TreeMap<>();
    while (from.nextToken() != JsonToken.END_OBJECT) {
      String name = from.currentName();
      from.nextToken();
      members.put(name, value(from));
    }
    return members;
  }

  private static Object value(JsonParser from) throws IOException {
    JsonToken token = from.currentToken();
    return switch (token) {
      case START_OBJECT -> object(from);
      case START_ARRAY -> array(from);
      case VALUE_STRING -> from.getText();
      case VALUE_NUMBER_INT -> from.getLongValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> throw new IOException(token + " (expected: a text, whole number or truth)");
    };
  }

  private static List<Object> array(JsonParser from) throws IOException {
    List<Object> items = new ArrayList<>();
    while (from.nextToken() != JsonToken.END_ARRAY) {
      items.add(value(from));
    }
    return items;
  }

  /** The members of an object, each of a type that is asked for. */
  static final class Members {
    private final Map<String, Object> members;

    Members(Map<String, Object> members) {
      this.members = members;
    }

    /** Returns the canonical text of the object. */
    String text() {
      return write(members);
    }

    /** Returns the object without these members. */
    Map<String, Object> without(Set<String> names) {
      Map<String, Object> left = new TreeMap<>(members);
      left.keySet().removeAll(names);
      return left;
    }

    /** Returns the names of all members, in their order. */
    List<String> names() {
      return List.copyOf(members.keySet());
    }

    boolean has(String name) {
      return members.containsKey(name);
    }

    String text(String name) throws IOException {
      return get(name, String.class, "a text");
    }

    /** Returns the text, or an empty one if there is none. */
    String textOrEmpty(String name) throws IOException {
      return has(name) ? text(name) : "";
    }

    long number(String name) throws IOException {
      return get(name, Long.class, "a whole number");
    }

    @SuppressWarnings("unchecked") // Names are texts, as object() makes them.
    Members object(String name) throws IOException {
      return new Members((Map<String, Object>) get(name, Map.class, "an object"));
    }

    /** Returns the canonical text of a member that is an object, or an empty one. */
    String json(String name) throws IOException {
      return has(name) ? write(object(name).members) : "";
    }

    Map<String, String> texts() throws IOException {
      Map<String, String> texts = new TreeMap<>();
      for (String name : members.keySet()) {
        texts.put(name, text(name));
      }
      return texts;
    }

    List<String> list(String name) throws IOException {
      List<String> texts = new ArrayList<>();
      for (Object item : get(name, List.class, "a list")) {
        if (!(item instanceof String text)) {
          throw new IOException(name + ": " + item + " (expected: texts)");
        }
        texts.add(text);
      }
      return texts;
    }

    private <T> T get(String name, Class<T> type, String expected) throws IOException {
      Object value = members.get(name);
      if (!type.isInstance(value)) {
        throw new IOException(name + ": " + value + " (expected: " + expected + ")");
      }
      return type.cast(value);
    }
  }
}
