package dev.weir.cli.imports;

import dev.weir.cli.command.CommandFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A section of HAProxy's configuration, such as a frontend.
 *
 * @param words the words of its first line, such as {@code frontend web}
 */
record HaproxySection(List<String> words, List<Line> lines, SourcePlace place) {
  /** The words of a line that begin a section. */
  private static final Set<String> SECTIONS =
      Set.of(
          "global",
          "defaults",
          "frontend",
          "backend",
          "listen",
          "userlist",
          "peers",
          "mailers",
          "resolvers",
          "cache",
          "program",
          "http-errors",
          "ring",
          "fcgi-app",
          "crt-store",
          "log-forward",
          "traces",
          "acme");

  /** A line of a section, in words. */
  record Line(List<String> words, SourcePlace place) {
    boolean begins(String... first) {
      return words.size() >= first.length && words.subList(0, first.length).equals(List.of(first));
    }

    /** Returns the word behind another one; the default if there is none. */
    String behind(String word, String otherwise) {
      int at = words.indexOf(word);
      return at < 0 || at + 1 >= words.size() ? otherwise : words.get(at + 1);
    }

    @Override
    public String toString() {
      return String.join(" ", words);
    }
  }

  /** Returns its name; the kind if it has none. */
  String name() {
    return words.get(words.size() > 1 ? 1 : 0);
  }

  /**
   * Reads a configuration.
   *
   * @throws CommandFailure if a quote is not closed
   */
  static List<HaproxySection> read(String file, String text) {
    List<HaproxySection> sections = new ArrayList<>();
    int number = 0;
    for (String line : text.split("\n", -1)) {
      SourcePlace place = new SourcePlace(file, ++number);
      List<String> words = words(line, place);
      if (words.isEmpty()) {
        continue;
      }
      if (SECTIONS.contains(words.get(0))) {
        sections.add(new HaproxySection(words, new ArrayList<>(), place));
      } else if (!sections.isEmpty()) {
        sections.get(sections.size() - 1).lines.add(new Line(words, place));
      }
    }
    return sections;
  }

  /**
   * Returns the words of a line: quotes join, a backslash keeps, a number sign begins a comment.
   */
  private static List<String> words(String line, SourcePlace place) {
    List<String> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    char quote = '\0';
    for (int i = 0; i < line.length(); i++) {
      char next = line.charAt(i);
      if (quote != '\0') {
        quote = next == quote ? '\0' : quote;
        word.append(quote == '\0' ? "" : next);
      } else if (next == '"' || next == '\'') {
        quote = next;
      } else if (next == '\\' && i + 1 < line.length()) {
        word.append(line.charAt(++i));
      } else if (next == '#') {
        break;
      } else if (Character.isWhitespace(next)) {
        add(word, words);
      } else {
        word.append(next);
      }
    }
    if (quote != '\0') {
      throw new CommandFailure(place + ": the end (expected: " + quote + " of a word)");
    }
    add(word, words);
    return words;
  }

  private static void add(StringBuilder word, List<String> words) {
    if (word.length() > 0) {
      words.add(word.toString());
      word.setLength(0);
    }
  }
}
