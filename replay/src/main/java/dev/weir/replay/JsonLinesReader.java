package dev.weir.replay;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads one JSON object a line. Columns are its fields; a field of an object within it is named
 * with dots, {@code user.id}. What a name means twice, the last occurrence says.
 */
final class JsonLinesReader implements RecordReader {
  /** So many lines from the beginning of the input tell which columns there are. */
  private static final int LOOKED_AT = 1000;

  /** How deep a column may be: the places where its dots may be double with each. */
  private static final int MAX_DOTS = 12;

  /** A name on the way to wanted columns: the slot of the column it is, and what goes on there. */
  private static final class Node {
    private int slot = -1;
    private final Map<String, Node> children = new HashMap<>();

    Node child(String name) {
      return children.computeIfAbsent(name, n -> new Node());
    }
  }

  private final JsonFactory json = new JsonFactory();
  private final Lines lines;
  private final List<String> columns;
  private final Node root = new Node();
  private List<String> wanted = List.of();
  private boolean[] found = new boolean[0];

  JsonLinesReader(Lines lines) {
    this.lines = lines;
    columns = look(lines.head());
  }

  /** Collects the names in the first lines. Lines that cannot be read are for {@link #next}. */
  private List<String> look(byte[] head) {
    Set<String> names = new LinkedHashSet<>();
    int start = 0;
    for (int i = 0; i < LOOKED_AT && start < head.length; i++) {
      int end = start;
      while (end < head.length && head[end] != '\n') {
        end++;
      }
      try (JsonParser parser = json.createParser(head, start, end - start)) {
        if (parser.nextToken() == JsonToken.START_OBJECT) {
          names(parser, "", names);
        }
      } catch (IOException ignored) {
        // Said, with its line number, when the line is read.
      }
      start = end + 1;
    }
    return List.copyOf(names);
  }

  private static void names(JsonParser parser, String prefix, Set<String> names)
      throws IOException {
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = prefix + parser.currentName();
      JsonToken token = parser.nextToken();
      if (token == JsonToken.START_OBJECT) {
        names(parser, name + ".", names);
      } else if (token == JsonToken.START_ARRAY) {
        parser.skipChildren();
      } else {
        names.add(name);
      }
    }
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public boolean has(String column) {
    return columns.isEmpty() || columns.contains(column);
  }

  @Override
  public void want(List<String> wanted) throws ReplayException {
    this.wanted = List.copyOf(wanted);
    found = new boolean[wanted.size()];
    for (int slot = 0; slot < wanted.size(); slot++) {
      if (wanted.get(slot).chars().filter(c -> c == '.').count() > MAX_DOTS) {
        throw new ReplayException(
            "column "
                + Shown.quoted(wanted.get(slot))
                + ": too deep (expected: at most "
                + MAX_DOTS
                + " dots)");
      }
      place(root, wanted.get(slot), slot);
    }
  }

  /** Puts a name everywhere where its dots may be: {@code a.b} is in {@code a}, or stands whole. */
  private static void place(Node node, String name, int slot) {
    node.child(name).slot = slot;
    for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      place(node.child(name.substring(0, dot)), name.substring(dot + 1), slot);
    }
  }

  @Override
  public long line() {
    return lines.line();
  }

  @Override
  public boolean next(Fields fields) throws IOException, Unreadable {
    do {
      if (!lines.next()) {
        return false;
      }
    } while (lines.blank());
    Arrays.fill(found, false);
    int length = lines.to() - lines.from();
    try (JsonParser parser = json.createParser(lines.data(), lines.from(), length)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new Unreadable("no JSON object");
      }
      object(parser, root, fields);
      if (parser.nextToken() != null) {
        throw new Unreadable("text behind the JSON object");
      }
    } catch (IOException e) { // Of the text: the bytes are here already.
      throw new Unreadable("no valid JSON: " + Shown.plain(firstLine(message(e))));
    }
    for (int slot = 0; slot < found.length; slot++) {
      if (!found[slot]) {
        throw new Unreadable("column " + Shown.quoted(wanted.get(slot)) + ": missing");
      }
    }
    return true;
  }

  private static @Nullable String message(IOException e) {
    return e instanceof JsonProcessingException json ? json.getOriginalMessage() : e.getMessage();
  }

  private static String firstLine(@Nullable String message) {
    String text = message == null ? "" : message;
    int end = text.indexOf('\n');
    return end < 0 ? text : text.substring(0, end);
  }

  private void object(JsonParser parser, Node node, Fields fields) throws IOException, Unreadable {
    JsonToken token = parser.nextToken();
    while (token == JsonToken.FIELD_NAME) {
      Node child = node.children.get(parser.currentName());
      token = parser.nextToken();
      if (child == null) {
        parser.skipChildren();
      } else if (token == JsonToken.START_OBJECT) {
        object(parser, child, fields);
      } else if (child.slot < 0 || token == JsonToken.VALUE_NULL) {
        parser.skipChildren();
      } else if (token == JsonToken.START_ARRAY) {
        throw new Unreadable(
            "column " + Shown.quoted(wanted.get(child.slot)) + ": a list (expected: one value)");
      } else {
        byte[] value = parser.getText().getBytes(StandardCharsets.UTF_8);
        fields.set(child.slot, value, 0, value.length);
        found[child.slot] = true;
      }
      token = parser.nextToken();
    }
  }
}
