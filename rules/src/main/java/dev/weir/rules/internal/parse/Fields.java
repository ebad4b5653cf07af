package dev.weir.rules.internal.parse;

import dev.weir.rules.DurationText;
import dev.weir.rules.Position;
import dev.weir.rules.ShareText;
import dev.weir.rules.internal.parse.YamlNode.Field;
import dev.weir.rules.internal.parse.YamlNode.Mapping;
import dev.weir.rules.internal.parse.YamlNode.Sequence;
import dev.weir.rules.internal.parse.YamlNode.Text;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The keys and values of one map in a rule file; reports their problems. */
final class Fields {
  private final String file;
  private final Mapping mapping;
  private final Problems problems;
  private final Map<String, Field> byKey = new LinkedHashMap<>();

  /** Creates the fields from the known keys of a map, and reports the others. */
  Fields(String file, Mapping mapping, Place place, Problems problems) {
    this.file = file;
    this.mapping = mapping;
    this.problems = problems;
    for (Field field : mapping.fields()) {
      String key = field.key().text();
      if (place.keys().contains(key)) {
        byKey.put(key, field);
      } else if (place == Place.RATE_LIMIT && key.equals(Place.OLD_REQUESTS_PER_UNIT)) {
        old(field);
      } else {
        problems.error(position(field.key()), place.refuse(key));
      }
    }
  }

  private void old(Field field) {
    String key = "requests_per_unit";
    if (mapping.fields().stream().anyMatch(other -> other.key().text().equals(key))) {
      problems.error(
          position(field.key()),
          Place.OLD_REQUESTS_PER_UNIT + ": beside " + key + " (expected: only " + key + ")");
      return;
    }
    problems.warning(
        position(field.key()), Place.OLD_REQUESTS_PER_UNIT + ": old name (expected: " + key + ")");
    byKey.put(key, field);
  }

  boolean has(String key) {
    return byKey.containsKey(key);
  }

  /** Returns whether the key is present and has a value. */
  boolean hasValue(String key) {
    return value(key) != null;
  }

  private @Nullable YamlNode value(String key) {
    Field field = byKey.get(key);
    if (field == null || (field.value() instanceof Text text && text.isNull())) {
      return null;
    }
    return field.value();
  }

  /** Returns whether nothing at all is written behind the key, not even {@code null}. */
  boolean isBlank(String key) {
    Field field = byKey.get(key);
    return field != null
        && field.value() instanceof Text text
        && text.plain()
        && text.text().isEmpty();
  }

  /** Returns the scalar of the key, or null if there is none. */
  @Nullable Text scalar(String key) {
    return value(key) instanceof Text text ? text : null;
  }

  /** Returns the position at which the map begins. */
  Position position() {
    return position(mapping);
  }

  /** Returns the position of the key, or of the map if it has no such key. */
  Position position(String key) {
    Field field = byKey.get(key);
    return field == null ? position() : position(field.key());
  }

  Position position(YamlNode node) {
    return new Position(file, node.line(), node.column());
  }

  /** Returns the value of the key for a message. */
  String shown(String key) {
    Field field = byKey.get(key);
    return field == null ? "missing" : field.value().kind();
  }

  void error(String key, String expected) {
    problems.error(position(key), key + ": " + shown(key) + " (expected: " + expected + ")");
  }

  void warning(String key, String expected) {
    problems.warning(position(key), key + ": " + shown(key) + " (expected: " + expected + ")");
  }

  /** Returns the text of a scalar as it is written, or the empty text if there is none. */
  String text(String key, int maxLength) {
    YamlNode value = value(key);
    if (value == null) {
      return "";
    }
    if (!(value instanceof Text text)) {
      error(key, "a text");
      return "";
    }
    if (text.text().length() > maxLength) {
      error(key, "at most " + maxLength + " characters, not " + text.text().length());
      return "";
    }
    return text.text();
  }

  boolean flag(String key) {
    YamlNode value = value(key);
    if (value == null) {
      return false;
    }
    if (value instanceof Text text && text.plain()) {
      // YAML 1.1's words for true and false, which the original accepts too.
      switch (text.text()) {
        case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON" -> {
          return true;
        }
        case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF" -> {
          return false;
        }
        default -> {}
      }
    }
    error(key, "true or false");
    return false;
  }

  /** Returns a whole number within the range, or -1 after reporting that it is none. */
  long number(String key, long min, long max) {
    String range = min + ".." + max;
    YamlNode value = value(key);
    if (!(value instanceof Text text) || !isNumber(text.text())) {
      String written = value instanceof Text text ? text.text() : "";
      boolean negative = written.startsWith("-") && isNumber(written.substring(1));
      error(key, (negative ? "" : "a whole number, ") + range + Hints.number(written));
      return -1;
    }
    if (!text.plain()) {
      error(key, range + ", without quotes");
      return -1;
    }
    // Grouping is allowed as in YAML 1.1: 1_000.
    String digits = text.text().replace("_", "");
    if (digits.length() > 1 && digits.startsWith("0")) {
      error(key, range + ", without leading zeros");
      return -1;
    }
    long number = digits.length() > 18 ? Long.MAX_VALUE : Long.parseLong(digits);
    if (number < min || number > max) {
      error(key, range);
      return -1;
    }
    return number;
  }

  /** Returns a duration within the range in nanoseconds, or 0 after reporting that it is none. */
  long duration(String key, long min, long max) {
    Text text = scalar(key);
    long nanos = text == null ? -1 : DurationText.parse(text.text());
    if (nanos < 0) {
      error(key, DurationText.EXPECTED);
      return 0;
    }
    if (nanos < min || nanos > max) {
      error(key, DurationText.format(min) + ".." + DurationText.format(max));
      return 0;
    }
    return nanos;
  }

  /**
   * Returns the share of the key, {@code 25%} or {@code 0.25}, above 0 and at most 1, or 0 after
   * reporting that it is none.
   */
  double share(String key, String expected) {
    Text text = scalar(key);
    long millionths = text == null ? -1 : ShareText.parse(text.text());
    if (millionths <= 0 || millionths > ShareText.WHOLE) {
      boolean tooFine = text != null && ShareText.isTooFine(text.text());
      error(key, tooFine ? ShareText.FINEST : expected);
      return 0;
    }
    return millionths / (double) ShareText.WHOLE;
  }

  /**
   * Returns the choice that the key has, by its name in any letter case, or null after reporting
   * that it is none.
   *
   * @param absent the choice if there is no such key
   */
  <E extends Enum<E>> @Nullable E choice(String key, List<E> choices, E absent) {
    return choice(key, choices, Map.of(), absent);
  }

  /**
   * Returns the choice like {@link #choice(String, List, Enum)}, with other names for some of the
   * choices.
   *
   * @param aliases in lower case
   */
  <E extends Enum<E>> @Nullable E choice(
      String key, List<E> choices, Map<String, E> aliases, E absent) {
    if (!has(key)) {
      return absent;
    }
    Text text = scalar(key);
    for (E choice : choices) {
      if (text != null && text.text().equalsIgnoreCase(choice.name())) {
        return choice;
      }
    }
    E alias = text == null ? null : aliases.get(text.text().toLowerCase(Locale.ROOT));
    if (alias == null) {
      error(key, Words.alternatives(choices));
    }
    return alias;
  }

  private static boolean isNumber(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean grouping = c == '_' && i > 0 && i < text.length() - 1;
      if (!grouping && (c < '0' || c > '9')) {
        return false;
      }
    }
    return !text.isEmpty();
  }

  /** Returns the map of the key, or null if there is none. */
  @Nullable Mapping map(String key) {
    return map(key, "a map");
  }

  /** Returns the map of the key, or null if there is none; reports anything else. */
  @Nullable Mapping map(String key, String expected) {
    YamlNode value = value(key);
    if (value instanceof Mapping map) {
      return map;
    }
    if (value != null) {
      error(key, expected);
    }
    return null;
  }

  /** Returns the items of the key's list, none if there is no list. */
  List<YamlNode> list(String key) {
    YamlNode value = value(key);
    if (value instanceof Sequence sequence) {
      return sequence.items();
    }
    if (value != null) {
      error(key, "a list");
    }
    return List.of();
  }

  /** Returns whether the key has a list without items. */
  boolean isEmptyList(String key) {
    return value(key) instanceof Sequence sequence && sequence.items().isEmpty();
  }

  /** Returns an item of a list as a map, or null after reporting that it is none. */
  @Nullable Mapping item(String key, YamlNode item) {
    if (item instanceof Mapping map) {
      return map;
    }
    problems.error(position(item), key + ": " + item.kind() + " (expected: a list of maps)");
    return null;
  }
}
