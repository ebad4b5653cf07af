package dev.weir.cli.rules;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.cli.Main;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.Text;
import dev.weir.config.ConfigStore;
import dev.weir.internal.IoCauses;
import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import dev.weir.rules.ValueErrors;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The texts of rule files by their names as in a store: without folders.
 *
 * @param shown the names of the files in problems: a file's path, or its name again
 */
record RuleTexts(SortedMap<String, String> texts, Map<String, String> shown) {
  static final RuleTexts NONE = of(new TreeMap<>());

  static RuleTexts of(SortedMap<String, String> texts) {
    return new RuleTexts(Collections.unmodifiableSortedMap(texts), Map.of());
  }

  /**
   * Reads files, and from folders the files that {@code weir lint} reads.
   *
   * @throws CommandFailure if one cannot be read, or if two have the same name
   */
  static RuleTexts read(List<Path> paths) {
    SortedMap<String, String> texts = new TreeMap<>();
    Map<String, String> shown = new TreeMap<>();
    for (Path path : paths) {
      List<Path> files = Files.isDirectory(path) ? inFolder(path) : List.of(path);
      if (files.isEmpty()) {
        throw new CommandFailure(path + ": no rule file (expected: at least one *.yaml or *.yml)");
      }
      for (Path file : files) {
        if (!Rules.isRuleFile(file)) {
          throw new CommandFailure(
              Main.USAGE,
              ValueErrors.line(
                  "file", file, "a file *.yaml or *.yml whose name begins with no dot"));
        }
        String name = String.valueOf(file.getFileName());
        if (texts.put(name, text(file)) != null) {
          throw new CommandFailure(
              Main.USAGE,
              ValueErrors.line("file", file, "no other file " + name + ": a store has no folders"));
        }
        shown.put(name, file.toString());
      }
    }
    return new RuleTexts(Collections.unmodifiableSortedMap(texts), shown);
  }

  /** Returns the rule files of a folder, which may have none. */
  static List<Path> inFolder(Path folder) {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, Rules::isRuleFile)) {
      entries.forEach(files::add);
    } catch (DirectoryIteratorException e) {
      throw unreadable(folder, e.getCause());
    } catch (IOException e) {
      throw unreadable(folder, e);
    }
    Collections.sort(files);
    return files;
  }

  /** Returns the text of a file. */
  static String text(Path file) {
    try {
      long size = Files.size(file);
      if (size > ConfigStore.MAX_TEXT_BYTES) {
        throw new CommandFailure(
            Main.FOUND,
            file + ": " + size + " bytes (expected: at most " + ConfigStore.MAX_TEXT_BYTES + ")");
      }
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(Files.readAllBytes(file))).toString();
    } catch (CharacterCodingException e) {
      throw new CommandFailure(Main.FOUND, file + ": no text in UTF-8 (expected: YAML in UTF-8)");
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  private static CommandFailure unreadable(Path path, @Nullable IOException e) {
    String why = e == null ? "not there" : IoCauses.of(e);
    return new CommandFailure(path + ": " + why + " (expected: a file or folder to read)");
  }

  /** Returns these texts, with the others for the names that these do not have. */
  RuleTexts orElse(RuleTexts others) {
    SortedMap<String, String> all = new TreeMap<>(others.texts);
    all.putAll(texts);
    return new RuleTexts(Collections.unmodifiableSortedMap(all), shown);
  }

  /**
   * Reads the rules and shows every problem, in the way of {@code weir lint}.
   *
   * @return the rules, or null if there is any error
   */
  @Nullable RuleSet parse(PrintWriter to) {
    Rules.LoadResult loaded = load();
    loaded.problems().stream().map(Problem::shown).forEach(to::println);
    long errors =
        loaded.problems().stream().filter(each -> each.severity() == Severity.ERROR).count();
    if (errors > 0) {
      long warnings = loaded.problems().size() - errors;
      to.println(Text.count(errors, "error") + ", " + Text.count(warnings, "warning"));
    }
    return loaded.ruleSet();
  }

  private Rules.LoadResult load() {
    if (texts.isEmpty()) {
      return new Rules.LoadResult(RuleSet.EMPTY, List.<Problem>of());
    }
    Map<String, String> byShown = new TreeMap<>();
    texts.forEach((name, text) -> byShown.put(shown.getOrDefault(name, name), text));
    return Rules.parse(byShown);
  }

  /**
   * Returns the changes from these texts to newer ones, one per line: first of the files, then of
   * the rules in them. Empty if nothing changes.
   */
  List<String> diff(RuleTexts newer) {
    List<String> lines = new ArrayList<>();
    TreeSet<String> names = new TreeSet<>(texts.keySet());
    names.addAll(newer.texts.keySet());
    for (String name : names) {
      String before = texts.get(name);
      String after = newer.texts.get(name);
      if (before == null) {
        lines.add("file " + name + ": added");
      } else if (after == null) {
        lines.add("file " + name + ": deleted");
      } else if (!before.equals(after)) {
        lines.add("file " + name + ": changed");
      }
    }
    RuleSet was = load().ruleSet();
    RuleSet is = newer.load().ruleSet();
    if (was == null || is == null) {
      if (!lines.isEmpty()) {
        lines.add(
            "the "
                + (was == null ? "older" : "newer")
                + " rules have errors, so what changes in them cannot be said");
      }
      return lines;
    }
    lines.addAll(was.diff(is));
    return lines;
  }
}
