package dev.weir.config;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.io.CharacterEscapes;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.weir.config.internal.bytes.Check;
import dev.weir.rules.ShownText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * JSON of maps, lists, texts, whole numbers, booleans and, where the caller allows them, nulls: at
 * most {@value #MAX_DEPTH} levels deep, no name twice in an object, no half of a surrogate pair. It
 * is written without spaces, in one of two forms: the canonical one has members in the order of
 * their names, so that every value has one text and can be hashed; the other has them in the order
 * of the map, for answers.
 */
public final class Json {
  /** The deepest nesting; more levels than any document here has. */
  public static final int MAX_DEPTH = 32;

  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).build())
                  .build())
          .enable(DeserializationFeature.USE_LONG_FOR_INTS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private static final ObjectReader READER = MAPPER.readerFor(Object.class);

  private static final ObjectWriter CANONICAL =
      MAPPER.writer(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);

  /** A writer whose escapes keep a text harmless even if an answer is taken for a web page. */
  private static final ObjectWriter AS_IS = MAPPER.writer(new NoMarkup());

  private Json() {}

  /** Returns the canonical text of an object. */
  public static String write(Map<String, ?> object) {
    return write(object, CANONICAL);
  }

  /**
   * Returns the text of an object with its members in the order of the map. Characters that could
   * begin or end markup are written as escapes.
   */
  public static String writeAsIs(Map<String, ?> object) {
    return write(object, AS_IS);
  }

  private static String write(Map<String, ?> object, ObjectWriter to) {
    try {
      return to.writeValueAsString(object);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e); // A value that is none of JSON's.
    }
  }

  /**
   * Returns the members of an object without nulls.
   *
   * @throws IOException if the text is anything else
   */
  public static Members read(String text) throws IOException {
    return read(text, false);
  }

  /**
   * Returns the members of an object, in their order; nulls are members like others.
   *
   * @throws IOException if the text is anything else; the message names the place
   */
  public static Members readWithNulls(String text) throws IOException {
    return read(text, true);
  }

  @SuppressWarnings("unchecked") // Names are texts.
  private static Members read(String text, boolean nulls) throws IOException {
    try {
      Object value = READER.readValue(text);
      if (!(value instanceof Map<?, ?> object)) {
        throw new IOException("no object (expected: {)");
      }
      check(object, nulls);
      return new Members((Map<String, @Nullable Object>) object);
    } catch (MismatchedInputException e) {
      throw new IOException(
          text.isBlank()
              ? "no object (expected: {)"
              : place(text, e) + "more behind the object (expected: its end)",
          e);
    } catch (JsonProcessingException e) {
      throw new IOException(
          place(text, e) + ShownText.ofParser(e.getOriginalMessage()) + " (expected: JSON)", e);
    }
  }

  /** Returns the place of an error, without the line if there is only one. */
  private static String place(String text, JsonProcessingException e) {
    JsonLocation at = e.getLocation();
    if (at == null) {
      return "";
    }
    String line = text.lines().limit(2).count() > 1 ? "line " + at.getLineNr() + ", " : "";
    return line + "column " + at.getColumnNr() + ": ";
  }

  /**
   * Checks that all texts are valid Unicode, and all numbers whole: escapes can produce half of a
   * surrogate pair, which no store keeps as it is.
   */
  private static void check(@Nullable Object value, boolean nulls) throws IOException {
    if (value instanceof Map<?, ?> object) {
      for (Map.Entry<?, ?> member : object.entrySet()) {
        check(member.getKey(), nulls);
        check(member.getValue(), nulls);
      }
    } else if (value instanceof List<?> items) {
      for (Object item : items) {
        check(item, nulls);
      }
    } else if (value instanceof String text) {
      if (!Check.isUnicode(text)) {
        throw new IOException("half a surrogate pair (expected: Unicode)");
      }
    } else if (value instanceof Double || (value == null && !nulls)) {
      throw new IOException(value + " (expected: a text, whole number or truth)");
    }
  }

  /** Escapes for characters that could begin or end markup. */
  private static final class NoMarkup extends CharacterEscapes {
    private static final long serialVersionUID = 1;

    @Override
    public int[] getEscapeCodesForAscii() {
      int[] codes = CharacterEscapes.standardAsciiEscapesForJSON();
      for (char each : "<>&'".toCharArray()) {
        codes[each] = CharacterEscapes.ESCAPE_STANDARD;
      }
      return codes;
    }

    @Override
    public @Nullable SerializableString getEscapeSequence(int character) {
      return null;
    }
  }

  /** The members of an object, each read as the type that the caller requests. */
  public static final class Members {
    private final Map<String, @Nullable Object> members;

    Members(Map<String, @Nullable Object> members) {
      this.members = members;
    }

    /** Returns the canonical text of the object. */
    String text() {
      return write(members);
    }

    /** Returns the object without these members, in their order. */
    public Map<String, @Nullable Object> without(Set<String> names) {
      Map<String, @Nullable Object> left = new LinkedHashMap<>(members);
      left.keySet().removeAll(names);
      return left;
    }

    /** Returns the names of the members, in their order. */
    public Set<String> names() {
      return Collections.unmodifiableSet(members.keySet());
    }

    /** Returns whether there is such a member, even if it is null. */
    public boolean has(String name) {
      return members.containsKey(name);
    }

    /** Returns whether there is such a member that is null. */
    public boolean isNull(String name) {
      return has(name) && members.get(name) == null;
    }

    /** Returns a boolean, or the given one if there is none. */
    public boolean truth(String name, boolean otherwise) throws IOException {
      return has(name) ? get(name, Boolean.class, "true or false") : otherwise;
    }

    public String text(String name) throws IOException {
      return get(name, String.class, "a text");
    }

    /** Returns the text, or an empty one if there is none. */
    public String textOrEmpty(String name) throws IOException {
      return has(name) ? text(name) : "";
    }

    public long number(String name) throws IOException {
      return get(name, Long.class, "a whole number");
    }

    @SuppressWarnings("unchecked") // Names are texts.
    public Members object(String name) throws IOException {
      return new Members((Map<String, @Nullable Object>) get(name, Map.class, "an object"));
    }

    /** Returns the canonical text of a member that is an object, or an empty one. */
    public String json(String name) throws IOException {
      return has(name) ? Json.write(object(name).members) : "";
    }

    public Map<String, String> texts() throws IOException {
      Map<String, String> texts = new TreeMap<>();
      for (String name : members.keySet()) {
        texts.put(name, text(name));
      }
      return texts;
    }

    public List<String> list(String name) throws IOException {
      List<String> texts = new ArrayList<>();
      for (Object item : get(name, List.class, "a list")) {
        if (!(item instanceof String text)) {
          throw new IOException(name + ": " + Check.shown(item) + " (expected: texts)");
        }
        texts.add(text);
      }
      return texts;
    }

    /** Returns the objects of a list. */
    @SuppressWarnings("unchecked") // Names are texts.
    public List<Members> objects(String name) throws IOException {
      List<Members> objects = new ArrayList<>();
      for (Object item : get(name, List.class, "a list")) {
        if (!(item instanceof Map<?, ?> object)) {
          throw new IOException(name + ": " + Check.shown(item) + " (expected: objects)");
        }
        objects.add(new Members((Map<String, @Nullable Object>) object));
      }
      return objects;
    }

    private <T> T get(String name, Class<T> type, String expected) throws IOException {
      Object value = members.get(name);
      if (!type.isInstance(value)) {
        String given = has(name) ? Check.shown(value) : "missing";
        throw new IOException(Check.shown(name) + ": " + given + " (expected: " + expected + ")");
      }
      return type.cast(value);
    }
  }
}
