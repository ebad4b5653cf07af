package dev.weir.cli.imports;

import dev.weir.cli.command.CommandFailure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * The values of a YAML, JSON or properties file, each with its path, such as {@code a.b[0].c}.
 * Names are compared without letter case, hyphens and underscores, as Spring and protocol buffers
 * do. Immutable.
 */
final class ConfigProperties {
  /**
   * A value.
   *
   * @param path with names as they are written
   * @param document the number of its document in the file, from 0 on
   */
  record Property(String path, String value, SourcePlace place, int document) {}

  private static final int MOST_VALUES = 100_000;
  private static final int MOST_DEPTH = 100;

  private final List<Property> all;

  /** The values by relaxed paths; of several at one path, the last one counts. */
  private final Map<String, Property> byPath = new HashMap<>();

  private ConfigProperties(List<Property> all) {
    this.all = List.copyOf(all);
    all.forEach(each -> byPath.put(relaxed(each.path()), each));
  }

  /**
   * Reads a text; one of a file that ends with {@code .properties} has a line a value.
   *
   * @throws CommandFailure if it is not well-formed
   */
  static ConfigProperties parse(String file, String text) {
    List<Property> all = new ArrayList<>();
    if (file.endsWith(".properties")) {
      addLines(file, text, all);
      return new ConfigProperties(all);
    }
    LoadSettings settings =
        LoadSettings.builder().setLabel(file).setCodePointLimit(Integer.MAX_VALUE).build();
    try {
      checkDepth(file, new Parse(settings).parseString(text));
      int document = 0;
      for (Node node : new Compose(settings).composeAllFromString(text)) {
        add(file, "", node, document++, all);
      }
    } catch (YamlEngineException e) {
      String problem = String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
      throw new CommandFailure(file + ": " + problem + " (expected: YAML or JSON)", e);
    }
    return new ConfigProperties(all);
  }

  /** Checks the nesting before nodes are made of it, which is done by recursion. */
  private static void checkDepth(String file, Iterable<Event> events) {
    int depth = 0;
    for (Event event : events) {
      if (event instanceof CollectionStartEvent && ++depth > MOST_DEPTH) {
        int line = event.getStartMark().map(mark -> mark.getLine() + 1).orElse(0);
        throw new CommandFailure(
            file + ":" + line + ": too many levels (expected: at most " + MOST_DEPTH + ")");
      }
      depth -= event instanceof CollectionEndEvent ? 1 : 0;
    }
  }

  private static void addLines(String file, String text, List<Property> all) {
    int number = 0;
    int document = 0;
    for (String line : text.split("\n", -1)) {
      number++;
      String stripped = line.strip();
      document += stripped.equals("#---") || stripped.equals("!---") ? 1 : 0;
      int end = stripped.indexOf('=') < 0 ? stripped.indexOf(':') : stripped.indexOf('=');
      if (end > 0 && !stripped.startsWith("#") && !stripped.startsWith("!")) {
        String path = stripped.substring(0, end).strip();
        String value = stripped.substring(end + 1).strip();
        all.add(new Property(path, value, new SourcePlace(file, number), document));
      }
    }
  }

  private static void add(String file, String path, Node node, int document, List<Property> all) {
    int line = node.getStartMark().map(mark -> mark.getLine() + 1).orElse(0);
    SourcePlace place = new SourcePlace(file, line);
    if (all.size() > MOST_VALUES) { // Aliases can stand for very many.
      throw new CommandFailure(place + ": too many values (expected: at most " + MOST_VALUES + ")");
    }
    if (node instanceof MappingNode map && map.getValue().isEmpty()) {
      all.add(new Property(path, "", place, document)); // It is there, with all its defaults.
    } else if (node instanceof MappingNode map) {
      for (NodeTuple each : map.getValue()) {
        String key = each.getKeyNode() instanceof ScalarNode name ? name.getValue() : "?";
        add(file, path.isEmpty() ? key : path + "." + key, each.getValueNode(), document, all);
      }
    } else if (node instanceof SequenceNode list) {
      for (int i = 0; i < list.getValue().size(); i++) {
        add(file, path + "[" + i + "]", list.getValue().get(i), document, all);
      }
    } else if (node instanceof ScalarNode text) {
      all.add(new Property(path, text.getValue(), place, document));
    }
  }

  List<Property> all() {
    return all;
  }

  /** Returns a path without letter case, hyphens and underscores. */
  static String relaxed(String path) {
    return path.toLowerCase(Locale.ROOT).replaceAll("[-_]", "");
  }

  /** Returns the path of the map or list around; empty if there is none. */
  static String parent(String path) {
    return path.substring(0, Math.max(0, path.lastIndexOf('.')));
  }

  /** Returns the values of one document, in the order of the file. */
  ConfigProperties document(int number) {
    return new ConfigProperties(all.stream().filter(each -> each.document() == number).toList());
  }

  /** Returns the numbers of the documents. */
  Set<Integer> documents() {
    Set<Integer> numbers = new LinkedHashSet<>();
    all.forEach(each -> numbers.add(each.document()));
    return numbers;
  }

  /** Returns the value at a path; null if there is none. */
  @Nullable Property at(String path) {
    return byPath.get(relaxed(path));
  }

  /** Returns the value at a path; the default if there is none. */
  String text(String path, String otherwise) {
    Property found = at(path);
    return found == null ? otherwise : found.value();
  }

  /**
   * Returns the beginnings of paths that match, each once.
   *
   * @param relaxedBeginning a pattern of relaxed names, from the beginning of a path on
   */
  List<String> beginnings(Pattern relaxedBeginning) {
    Set<String> found = new LinkedHashSet<>();
    for (Property each : all) {
      // Relaxing removes characters, so the end is searched for in the path as it is written.
      for (int end = 1; end <= each.path().length(); end++) {
        boolean whole = end == each.path().length() || ".[".indexOf(each.path().charAt(end)) >= 0;
        if (whole) {
          String beginning = each.path().substring(0, end);
          Matcher matcher = relaxedBeginning.matcher(relaxed(beginning));
          if (matcher.matches()) {
            found.add(beginning);
          }
        }
      }
    }
    return List.copyOf(found);
  }

  /** Returns the first place below a path. */
  SourcePlace placeOf(String path) {
    String wanted = relaxed(path);
    return all.stream()
        .filter(each -> relaxed(each.path()).startsWith(wanted))
        .map(Property::place)
        .findFirst()
        .orElse(new SourcePlace("", 0));
  }
}
