package dev.weir.config.etcd;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON in the form of etcd's gateway: bytes are Base64, and large numbers are texts. */
final class Json {
  /**
   * A factory that accepts long texts: a row of a megabyte is longer in Base64, and a page has many
   * rows.
   */
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
          .build();

  private Json() {}

  static byte[] write(Map<String, ?> object) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator to = FACTORY.createGenerator(bytes)) {
      write(object, to);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Cannot happen: it writes to memory.
    }
    return bytes.toByteArray();
  }

  private static void write(Object value, JsonGenerator to) throws IOException {
    if (value instanceof Map<?, ?> object) {
      to.writeStartObject();
      for (Map.Entry<?, ?> member : object.entrySet()) {
        to.writeFieldName((String) member.getKey());
        write(member.getValue(), to);
      }
      to.writeEndObject();
    } else if (value instanceof List<?> items) {
      to.writeStartArray();
      for (Object item : items) {
        write(item, to);
      }
      to.writeEndArray();
    } else if (value instanceof byte[] bytes) {
      to.writeString(Base64.getEncoder().encodeToString(bytes));
    } else if (value instanceof Boolean truth) {
      to.writeBoolean(truth);
    } else {
      to.writeString(String.valueOf(value));
    }
  }

  /**
   * Returns the members of an object; numbers and booleans become texts.
   *
   * @throws IOException if the text is not a JSON object
   */
  static Members read(byte[] text) throws IOException {
    try (JsonParser from = FACTORY.createParser(text)) {
      if (from.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("no object");
      }
      return object(from);
    }
  }

  private static Members object(JsonParser from) throws IOException {
    Map<String, Object> members = new LinkedHashMap<>();
    while (from.nextToken() != JsonToken.END_OBJECT) {
      String name = from.currentName();
      from.nextToken();
      members.put(name, value(from));
    }
    return new Members(members);
  }

  private static Object value(JsonParser from) throws IOException {
    return switch (from.currentToken()) {
      case START_OBJECT -> object(from);
      case START_ARRAY -> {
        List<Object> items = new ArrayList<>();
        while (from.nextToken() != JsonToken.END_ARRAY) {
          items.add(value(from));
        }
        yield items;
      }
      default -> from.getText();
    };
  }

  /**
   * The members of an object; a member that is missing has its type's default, which etcd omits.
   */
  static final class Members {
    private final Map<String, Object> members;

    private Members(Map<String, Object> members) {
      this.members = members;
    }

    String text(String name) {
      return members.get(name) instanceof String text ? text : "";
    }

    boolean isTrue(String name) {
      return text(name).equals("true");
    }

    /** Returns a number, or 0 if the member is none. */
    long number(String name) {
      String text = text(name);
      return text.matches("-?[0-9]{1,18}|[0-9]{19}") ? Long.parseLong(text) : 0;
    }

    byte[] bytes(String name) {
      return Base64.getDecoder().decode(text(name));
    }

    Members object(String name) {
      return members.get(name) instanceof Members object ? object : new Members(Map.of());
    }

    List<Members> objects(String name) {
      List<Members> objects = new ArrayList<>();
      if (members.get(name) instanceof List<?> items) {
        for (Object item : items) {
          if (item instanceof Members object) {
            objects.add(object);
          }
        }
      }
      return objects;
    }

    boolean has(String name) {
      return members.containsKey(name);
    }
  }
}
