package dev.weir.server.internal.rules;

import dev.weir.rules.Rules;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The current texts of rule files, for display. */
public final class RuleFileTexts {
  private RuleFileTexts() {}

  /**
   * Reads files, and from folders those that rules are read from.
   *
   * @return the texts by the names of the files; if two have one name, with their folder
   * @throws UncheckedIOException if one cannot be read
   */
  public static Map<String, String> read(List<Path> paths) {
    Map<String, String> texts = new TreeMap<>();
    try {
      for (Path path : paths) {
        if (Files.isDirectory(path)) {
          try (Stream<Path> files = Files.list(path)) {
            for (Path file : files.filter(Rules::isRuleFile).sorted().toList()) {
              add(texts, file);
            }
          }
        } else {
          add(texts, path);
        }
      }
      return texts;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void add(Map<String, String> texts, Path file) throws IOException {
    String text = Files.readString(file, StandardCharsets.UTF_8);
    Path name = file.getFileName();
    if (name == null || texts.putIfAbsent(name.toString(), text) != null) {
      texts.put(file.toString(), text);
    }
  }
}
