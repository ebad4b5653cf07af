package dev.weir.server.internal.settings;

import dev.weir.server.internal.settings.ServerSettings.WrittenValue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** A reader of settings files: a file is a YAML mapping of a setting's name to its value. */
final class SettingsFile {
  /** The largest file, a hundred times the size of all settings together. */
  private static final int MAX_BYTES = 1 << 18;

  private SettingsFile() {}

  /** Returns the values in the file, by setting; adds its errors to {@code problems}. */
  static Map<String, WrittenValue> read(Path path, Set<String> names, List<String> problems) {
    Map<String, WrittenValue> values = new HashMap<>();
    try {
      if (Files.size(path) > MAX_BYTES) {
        problems.add(path + ": " + Files.size(path) + " bytes (expected: at most 262144)");
        return values;
      }
      String text = Files.readString(path, StandardCharsets.UTF_8);
      LoadSettings settings =
          LoadSettings.builder().setLabel(path.toString()).setMaxAliasesForCollections(0).build();
      Optional<Node> root = new Compose(settings).composeString(text);
      if (root.isPresent()) {
        read(path, root.get(), names, values, problems);
      }
    } catch (NoSuchFileException e) {
      problems.add(path + ": no such file (expected: a readable file)");
    } catch (IOException e) {
      problems.add(path + ": cannot be read: " + e + " (expected: a readable file)");
    } catch (MarkedYamlEngineException e) {
      problems.add(at(path, e.getProblemMark()) + " " + e.getProblem() + " (expected: valid YAML)");
    } catch (YamlEngineException e) {
      problems.add(path + ": " + e.getMessage() + " (expected: valid YAML)");
    }
    return values;
  }

  private static void read(
      Path path,
      Node root,
      Set<String> names,
      Map<String, WrittenValue> values,
      List<String> problems) {
    if (!(root instanceof MappingNode mapping)) {
      problems.add(at(path, root.getStartMark()) + " not a mapping (expected: name: value)");
      return;
    }
    for (NodeTuple tuple : mapping.getValue()) {
      String where = at(path, tuple.getKeyNode().getStartMark());
      String name = tuple.getKeyNode() instanceof ScalarNode key ? key.getValue() : "a collection";
      if (!names.contains(name) || name.equals(Settings.CONFIG.name())) {
        problems.add(where + " " + name + ": unknown (expected: a setting's name)");
        continue;
      }
      String place = at(path, tuple.getValueNode().getStartMark()) + " " + name;
      String value = text(tuple.getValueNode());
      if (value == null) {
        problems.add(place + ": a collection (expected: one value)");
      } else if (values.put(name, new WrittenValue(place, value)) != null) {
        problems.add(where + " " + name + ": given twice (expected: each setting once)");
      }
    }
  }

  /** Returns a scalar as it is, and a list of scalars joined by commas; null for anything else. */
  private static @Nullable String text(Node node) {
    if (node instanceof ScalarNode scalar) {
      return scalar.getValue();
    }
    if (node instanceof SequenceNode list
        && list.getValue().stream().allMatch(each -> each instanceof ScalarNode)) {
      return String.join(
          ",", list.getValue().stream().map(each -> ((ScalarNode) each).getValue()).toList());
    }
    return null;
  }

  private static String at(Path path, Optional<Mark> mark) {
    return mark.map(m -> path + ":" + (m.getLine() + 1) + ":" + (m.getColumn() + 1))
        .orElse(path.toString());
  }
}
