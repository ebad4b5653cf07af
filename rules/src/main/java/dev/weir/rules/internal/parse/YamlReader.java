package dev.weir.rules.internal.parse;

import dev.weir.rules.Position;
import dev.weir.rules.Problem;
import dev.weir.rules.internal.parse.YamlNode.Field;
import dev.weir.rules.internal.parse.YamlNode.Mapping;
import dev.weir.rules.internal.parse.YamlNode.Sequence;
import dev.weir.rules.internal.parse.YamlNode.Text;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.resolver.ScalarResolver;
import org.snakeyaml.engine.v2.schema.CoreSchema;

/** A reader of one YAML document into nodes with their positions. Used by one thread, once. */
public final class YamlReader {
  /*
   * Why events and not the library's own tree? Because every limit has to hold while the text is
   * read, not after: nesting is counted before going down, and an alias counts with the size of the
   * node that it stands for, so that a text of a few lines cannot stand for billions of values.
   */

  /**
   * The deepest nesting: enough for {@link RuleParser#MAX_LEVELS} levels of descriptors, little
   * enough to recurse.
   */
  public static final int MAX_DEPTH = 100;

  /** The most nodes of one file, aliases written out: some 9,000 rules, read in some 100 ms. */
  public static final int MAX_NODES = 100_000;

  /** The most aliases, far more than a person writes by hand. */
  public static final int MAX_ALIASES = 1_000;

  private static final ScalarResolver SCALARS = new CoreSchema().getScalarResolver();
  private static final String STANDARD_TAG = "tag:yaml.org,2002:";

  private final String file;
  private final Problems problems;
  private final Iterator<Event> events;
  private final Map<String, YamlNode> anchors = new HashMap<>();
  private final Set<String> openAnchors = new HashSet<>();
  private int nodes;
  private int aliases;

  private YamlReader(String file, String text, Problems problems) {
    this.file = file;
    this.problems = problems;
    LoadSettings settings =
        LoadSettings.builder().setLabel(file).setCodePointLimit(Integer.MAX_VALUE).build();
    events = new Parse(settings).parseString(text).iterator();
  }

  /** Returns the document, or null if it cannot be read; every problem is reported. */
  public static @Nullable YamlNode read(String file, String text, Problems problems) {
    try {
      return new YamlReader(file, text, problems).document();
    } catch (Refusal refusal) {
      problems.error(refusal.position, refusal.message);
    } catch (MarkedYamlEngineException e) {
      Problem problem = SyntaxHints.problem(file, text, e);
      problems.error(problem.position(), problem.message());
    } catch (YamlEngineException | IndexOutOfBoundsException e) {
      problems.error(
          Position.ofFile(file),
          "syntax: " + Words.shown(String.valueOf(e.getMessage())) + " (expected: YAML)");
    }
    return null;
  }

  /** Returns the type that YAML's core schema gives to a scalar. */
  static Tag type(Text text) {
    return text.plain() ? SCALARS.resolve(text.text(), true) : Tag.STR;
  }

  private @Nullable YamlNode document() {
    YamlNode document = null;
    while (events.hasNext()) {
      Event event = events.next();
      switch (event.getEventId()) {
        case StreamStart, DocumentEnd, StreamEnd -> {}
        case DocumentStart -> {
          if (document != null) {
            throw refusal(event, "document: a second one (expected: one document a file)");
          }
        }
        default -> document = node(event, 1);
      }
    }
    if (document == null) {
      problems.error(
          new Position(file, 1, 1), "file: empty (expected: a map of domain and descriptors)");
    }
    return document;
  }

  private YamlNode node(Event event, int depth) {
    if (event instanceof AliasEvent alias) {
      return resolve(alias, depth);
    }
    count(event, 1);
    if (depth > MAX_DEPTH) {
      throw refusal(event, "nesting: deeper (expected: at most " + MAX_DEPTH + " levels)");
    }
    String anchor = anchor(event);
    if (anchor != null) {
      openAnchors.add(anchor);
    }
    YamlNode node;
    if (event instanceof ScalarEvent scalar) {
      checkTag(event, scalar.getTag());
      node = new Text(line(event), column(event), scalar.getValue(), scalar.isPlain());
    } else if (event.getEventId() == Event.ID.SequenceStart) {
      checkTag(event, ((CollectionStartEvent) event).getTag());
      node = sequence(event, depth);
    } else {
      checkTag(event, ((CollectionStartEvent) event).getTag());
      node = mapping(event, depth);
    }
    if (anchor != null) {
      openAnchors.remove(anchor);
      anchors.put(anchor, node);
    }
    return node;
  }

  private Sequence sequence(Event start, int depth) {
    List<YamlNode> items = new ArrayList<>();
    int size = 1;
    int height = 0;
    for (Event event = events.next();
        event.getEventId() != Event.ID.SequenceEnd;
        event = events.next()) {
      YamlNode item = node(event, depth + 1);
      items.add(item);
      size += item.size();
      height = Math.max(height, item.height());
    }
    return new Sequence(line(start), column(start), items, size, height + 1);
  }

  private Mapping mapping(Event start, int depth) {
    Map<String, Field> fields = new LinkedHashMap<>();
    List<YamlNode> merged = new ArrayList<>();
    int size = 1;
    int height = 0;
    for (Event event = events.next();
        event.getEventId() != Event.ID.MappingEnd;
        event = events.next()) {
      YamlNode key = node(event, depth + 1);
      YamlNode value = node(events.next(), depth + 1);
      size += 1 + value.size();
      height = Math.max(height, value.height());
      if (key instanceof Text text && text.plain() && text.text().equals("<<")) {
        merged.add(value);
      } else {
        put(fields, key, value);
      }
    }
    merged.forEach(value -> merge(fields, value));
    return new Mapping(line(start), column(start), List.copyOf(fields.values()), size, height + 1);
  }

  private void put(Map<String, Field> fields, YamlNode key, YamlNode value) {
    Position position = new Position(file, key.line(), key.column());
    if (!(key instanceof Text text) || !type(text).equals(Tag.STR)) {
      String expected = key instanceof Text text ? Hints.numericKey(text.text()) : "a text";
      problems.error(position, "key: " + key.kind() + " (expected: " + expected + ")");
      return;
    }
    Field first = fields.putIfAbsent(text.text(), new Field(text, value));
    if (first != null) {
      problems.error(
          position,
          "%s: duplicate of line %d (expected: once in a map)"
              .formatted(Words.shown(text.text()), first.key().line()));
    }
  }

  /**
   * Adds the fields of the map that {@code <<: *anchor} names; the map's own keys win, then the
   * earlier ones.
   */
  private void merge(Map<String, Field> fields, YamlNode from) {
    if (from instanceof Mapping mapping) {
      mapping.fields().forEach(field -> fields.putIfAbsent(field.key().text(), field));
    } else if (from instanceof Sequence sequence
        && sequence.items().stream().allMatch(Mapping.class::isInstance)) {
      sequence.items().forEach(item -> merge(fields, item));
    } else {
      problems.error(
          new Position(file, from.line(), from.column()),
          "<<: " + from.kind() + " (expected: a map or a list of maps)");
    }
  }

  private YamlNode resolve(AliasEvent event, int depth) {
    String name = event.getAlias().getValue();
    String shown = "alias: *" + Words.shown(name);
    if (++aliases > MAX_ALIASES) {
      throw refusal(event, "aliases: more (expected: at most " + MAX_ALIASES + ")");
    }
    if (openAnchors.contains(name)) {
      throw refusal(event, shown + " (expected: not inside &" + Words.shown(name) + " itself)");
    }
    YamlNode node = anchors.get(name);
    if (node == null) {
      throw refusal(
          event,
          shown
              + " (expected: an anchor &"
              + Words.shown(name)
              + " before it, or quotes if it is a text)");
    }
    count(event, node.size());
    if (depth + node.height() - 1 > MAX_DEPTH) {
      throw refusal(event, "nesting: deeper (expected: at most " + MAX_DEPTH + " levels)");
    }
    return node;
  }

  private void count(Event event, int more) {
    nodes += more;
    if (problems.errors() > Problems.MAX_PROBLEMS) {
      throw refusal(event, "rest of the file: not read (expected: fewer problems before it)");
    }
    if (nodes > MAX_NODES) {
      throw refusal(
          event, "values: more, aliases written out (expected: at most " + MAX_NODES + " a file)");
    }
  }

  private void checkTag(Event event, Optional<String> tag) {
    if (tag.isPresent()) {
      String name = tag.get();
      String shown =
          name.startsWith(STANDARD_TAG) ? "!!" + name.substring(STANDARD_TAG.length()) : name;
      problems.error(
          position(event),
          "tag: " + Words.shown(shown) + " (expected: none; quotes make a value a text)");
    }
  }

  private static @Nullable String anchor(Event event) {
    return ((NodeEvent) event).getAnchor().map(anchor -> anchor.getValue()).orElse(null);
  }

  private Refusal refusal(Event event, String message) {
    return new Refusal(position(event), message);
  }

  private Position position(Event event) {
    return new Position(file, line(event), column(event));
  }

  private static int line(Event event) {
    return event.getStartMark().map(Mark::getLine).orElse(0) + 1;
  }

  private static int column(Event event) {
    return event.getStartMark().map(Mark::getColumn).orElse(0) + 1;
  }

  /**
   * An exception that ends the reading of a file: the rest cannot be trusted or would cost too
   * much.
   */
  private static final class Refusal extends RuntimeException {
    final transient Position position;
    final String message;

    Refusal(Position position, String message) {
      super(message, null, false, false);
      this.position = position;
      this.message = message;
    }
  }
}
