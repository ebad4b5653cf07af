package dev.weir.traffic.internal.read;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import dev.weir.rules.ShownText;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A reader of JSON objects, one per line. Columns are an object's fields; a field of an object
 * within it is named with dots, {@code user.id}. If a name occurs twice, the last value counts.
 */
final class JsonLinesReader implements RecordReader {
  /*
   * Why is it line by line, with Jackson's parser and without object mapping? A broken line is lost
   * alone and named by its number, a record's length bounds the memory, and only wanted fields
   * become texts.
   */

  /** The number of lines at the beginning of the input from which the columns are collected. */
  private static final int LOOKED_AT = 1000;

  /** The most dots in a column's name: each may double the number of places to search. */
  private static final int MAX_DOTS = 12;

  private static final byte[] NOTHING = {};

  /** A name on the path to wanted columns: the slot of its own column, and the names below it. */
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

  /** The number of examined objects that have each column. */
  private final Map<String, Integer> counts = new LinkedHashMap<>();

  private int objects;
  private final Node root = new Node();
  private List<String> wanted = List.of();
  private boolean[] found = new boolean[0];
  private boolean[] optional = new boolean[0];

  JsonLinesReader(Lines lines) {
    this.lines = lines;
    countNames(lines.head());
    columns = List.copyOf(counts.keySet());
  }

  /** Collects the names in the first lines. Unreadable lines are left to {@link #next}. */
  private void countNames(byte[] head) {
    int start = 0;
    for (int i = 0; i < LOOKED_AT && start < head.length; i++) {
      int end = start;
      while (end < head.length && head[end] != '\n') {
        end++;
      }
      Set<String> names = new LinkedHashSet<>();
      int from = lines.recordFrom(head, start, end);
      try (JsonParser parser = json.createParser(head, from, end - from)) {
        if (parser.nextToken() == JsonToken.START_OBJECT) {
          objects++;
          names(parser, "", names);
        }
      } catch (IOException ignored) {
        // It is reported, with its line number, when the line is read.
      }
      names.forEach(name -> counts.merge(name, 1, Integer::sum));
      start = end + 1;
    }
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
  public double share(String column) {
    return objects == 0 ? 1 : counts.getOrDefault(column, 0) / (double) objects;
  }

  @Override
  public void select(List<String> wanted) throws TrafficException {
    this.wanted = List.copyOf(wanted);
    found = new boolean[wanted.size()];
    optional = new boolean[wanted.size()];
    for (int slot = 0; slot < wanted.size(); slot++) {
      if (wanted.get(slot).chars().filter(c -> c == '.').count() > MAX_DOTS) {
        throw new TrafficException(
            "column "
                + ShownText.quoted(wanted.get(slot))
                + ": too deep (expected: at most "
                + MAX_DOTS
                + " dots)");
      }
      place(root, wanted.get(slot), slot);
    }
  }

  @Override
  public void require(Set<String> columns) {
    for (int slot = 0; slot < optional.length; slot++) {
      optional[slot] = !columns.contains(wanted.get(slot));
    }
  }

  /**
   * Adds a column at every place that its dots allow: {@code a.b} is in {@code a}, or is a whole
   * name.
   */
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
  public boolean next(RecordValues values) throws IOException, UnreadableException {
    do {
      if (!lines.next()) {
        return false;
      }
    } while (lines.blank());
    Arrays.fill(found, false);
    int length = lines.to() - lines.from();
    try (JsonParser parser = json.createParser(lines.data(), lines.from(), length)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new UnreadableException("no JSON object");
      }
      object(parser, root, values);
      if (parser.nextToken() != null) {
        throw new UnreadableException("text behind the JSON object");
      }
    } catch (IOException e) { // The text is at fault: the bytes are in memory.
      throw new UnreadableException("no valid JSON: " + ShownText.ofParser(message(e)));
    }
    for (int slot = 0; slot < found.length; slot++) {
      if (!found[slot] && optional[slot]) {
        values.set(slot, NOTHING, 0, 0);
      } else if (!found[slot]) {
        throw new UnreadableException("column " + ShownText.quoted(wanted.get(slot)) + ": missing");
      }
    }
    return true;
  }

  private static @Nullable String message(IOException e) {
    return e instanceof JsonProcessingException json ? json.getOriginalMessage() : e.getMessage();
  }

  private void object(JsonParser parser, Node node, RecordValues values)
      throws IOException, UnreadableException {
    JsonToken token = parser.nextToken();
    while (token == JsonToken.FIELD_NAME) {
      Node child = node.children.get(parser.currentName());
      token = parser.nextToken();
      if (child == null) {
        parser.skipChildren();
      } else if (token == JsonToken.START_OBJECT) {
        object(parser, child, values);
      } else if (child.slot < 0 || token == JsonToken.VALUE_NULL) {
        parser.skipChildren();
      } else if (token == JsonToken.START_ARRAY) {
        throw new UnreadableException(
            "column "
                + ShownText.quoted(wanted.get(child.slot))
                + ": a list (expected: one value)");
      } else {
        byte[] value = parser.getText().getBytes(StandardCharsets.UTF_8);
        values.set(child.slot, value, 0, value.length);
        found[child.slot] = true;
      }
      token = parser.nextToken();
    }
  }
}
