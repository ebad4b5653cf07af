package dev.weir.rules.internal.parse;

import dev.weir.rules.Position;
import dev.weir.rules.internal.parse.YamlNode.Field;
import dev.weir.rules.internal.parse.YamlNode.Mapping;
import dev.weir.rules.internal.parse.YamlNode.Sequence;
import dev.weir.rules.internal.parse.YamlNode.Text;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Tag;

/** A reader that turns metadata into immutable Java values, by YAML's core schema. */
final class MetadataReader {
  /** The most digits of a number: none that means something to a person is longer. */
  private static final int MAX_DIGITS = 100;

  private final String file;
  private final Problems problems;

  MetadataReader(String file, Problems problems) {
    this.file = file;
    this.problems = problems;
  }

  Map<String, Object> map(Mapping mapping) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (Field field : mapping.fields()) {
      map.put(field.key().text(), value(field.value()));
    }
    return Collections.unmodifiableMap(map);
  }

  @SuppressWarnings("NullAway") // A null in a file is a null here.
  private Object value(YamlNode node) {
    if (node instanceof Mapping mapping) {
      return map(mapping);
    }
    if (node instanceof Sequence sequence) {
      List<Object> list = new ArrayList<>();
      sequence.items().forEach(item -> list.add(value(item)));
      return Collections.unmodifiableList(list);
    }
    return scalar((Text) node);
  }

  private @Nullable Object scalar(Text text) {
    Tag type = YamlReader.type(text);
    String value = text.text();
    if (type.equals(Tag.NULL)) {
      return null;
    }
    if (type.equals(Tag.BOOL)) {
      return Boolean.valueOf(value);
    }
    if (value.length() <= MAX_DIGITS) {
      if (type.equals(Tag.INT)) {
        return integer(value);
      }
      if (type.equals(Tag.FLOAT)) {
        return real(value);
      }
    } else if (type.equals(Tag.INT) || type.equals(Tag.FLOAT)) {
      problems.error(
          new Position(file, text.line(), text.column()),
          "metadata: " + text.kind() + " (expected: numbers of at most " + MAX_DIGITS + " digits)");
    }
    return value;
  }

  private static Object integer(String text) {
    BigInteger number =
        text.startsWith("0x")
            ? new BigInteger(text.substring(2), 16)
            : text.startsWith("0o") ? new BigInteger(text.substring(2), 8) : new BigInteger(text);
    return number.bitLength() < Long.SIZE ? (Object) number.longValue() : number;
  }

  private static Object real(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    if (lower.endsWith(".nan")) {
      return Double.NaN;
    }
    if (lower.endsWith(".inf")) {
      return lower.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
    }
    return Double.valueOf(text);
  }
}
