package dev.weir.cli.imports;

import dev.weir.cli.command.CommandFailure;
import dev.weir.internal.IoCauses;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A reader of nginx's configuration: a file with its includes, or the output of {@code nginx -T},
 * which has all of them. Not safe for use by several threads.
 */
final class NginxReader {
  /*
   * Which text is a word? All up to white space, a semicolon or a brace, or what is in quotes.
   * A dollar sign with a brace behind it begins a variable, ${name}. A number sign begins a comment
   * only at the beginning of a word. The code of a block of Lua is skipped: it has braces of its
   * own. [ngx_conf_file.c; the reference of ngx_http_core_module, include]
   */

  /** The line with which {@code nginx -T} begins each file. */
  private static final String FILE_MARK = "# configuration file ";

  private static final int MOST_INCLUDES = 1_000;
  private static final int MOST_DEPTH = 100;
  private static final long MOST_BYTES = 16 << 20;

  private final Path folder;
  private int includes;

  private NginxReader(Path folder) {
    this.folder = folder;
  }

  /**
   * Reads a file; includes are looked for beside it.
   *
   * @throws CommandFailure if a file cannot be read, or is no configuration of nginx
   */
  static NginxDirective read(Path file) {
    Path folder = file.toAbsolutePath().getParent();
    NginxReader reader = new NginxReader(folder == null ? Path.of("/") : folder);
    return main(reader.directives(file));
  }

  /**
   * Reads a text without includes, such as the output of {@code nginx -T}.
   *
   * @param name of the text in places
   */
  static NginxDirective read(String name, String text) {
    return main(new NginxReader(Path.of("/")).new Words(name, text).block(true));
  }

  /** Returns the configuration as the block of a directive without a name. */
  private static NginxDirective main(List<NginxDirective> directives) {
    return new NginxDirective(List.of("main"), directives, new SourcePlace("", 0));
  }

  private List<NginxDirective> directives(Path file) {
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw new CommandFailure(file + ": larger than 16 MiB (expected: nginx's configuration)");
      }
      String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
      return new Words(String.valueOf(file), text).block(true);
    } catch (IOException e) {
      throw new CommandFailure(file + ": " + IoCauses.of(e), e);
    }
  }

  private List<NginxDirective> included(NginxDirective include) {
    if (++includes > MOST_INCLUDES) {
      throw new CommandFailure(
          include.place() + ": too many files (expected: at most " + MOST_INCLUDES + " includes)");
    }
    Path pattern = folder.resolve(include.words().get(1));
    Path in = pattern.getParent();
    Path last = pattern.getFileName();
    if (in == null || last == null) {
      throw new CommandFailure(include.place() + ": include: no file (expected: include FILE)");
    }
    boolean glob = last.toString().matches(".*[*?\\[].*");
    if (!glob) {
      return directives(pattern);
    }
    List<Path> files = new ArrayList<>();
    if (Files.isDirectory(in)) {
      try (DirectoryStream<Path> found = Files.newDirectoryStream(in, last.toString())) {
        found.forEach(files::add);
      } catch (IOException e) {
        throw new CommandFailure(include.place() + ": " + in + ": " + IoCauses.of(e), e);
      }
    }
    List<NginxDirective> directives = new ArrayList<>();
    files.stream().sorted().forEach(file -> directives.addAll(directives(file)));
    return directives;
  }

  /** The words of one text. */
  private final class Words {
    private final String text;
    private String file;
    private final boolean dump;
    private int at;
    private int line = 1;
    private int depth;

    Words(String file, String text) {
      this.file = file;
      this.text = text;
      this.dump = text.contains("\n" + FILE_MARK) || text.startsWith(FILE_MARK);
    }

    private SourcePlace place() {
      return new SourcePlace(file, line);
    }

    private CommandFailure wrong(String problem) {
      return new CommandFailure(place() + ": " + problem);
    }

    /**
     * Reads directives up to the end of the block.
     *
     * @param whole true for those of the whole text
     */
    List<NginxDirective> block(boolean whole) {
      List<NginxDirective> directives = new ArrayList<>();
      while (true) {
        skipSpace();
        if (at == text.length()) {
          if (!whole) {
            throw wrong("the end (expected: } of a block)");
          }
          return directives;
        }
        if (text.charAt(at) == '}') {
          if (whole) {
            throw wrong("} (expected: a directive)");
          }
          at++;
          return directives;
        }
        NginxDirective directive = directive();
        boolean include = directive.name().equals("include") && directive.words().size() == 2;
        directives.addAll(include && !dump ? included(directive) : List.of(directive));
      }
    }

    private NginxDirective directive() {
      SourcePlace place = place();
      List<String> words = new ArrayList<>();
      while (true) {
        skipSpace();
        char next = at < text.length() ? text.charAt(at) : '\0';
        if (next == ';' && !words.isEmpty()) {
          at++;
          return new NginxDirective(List.copyOf(words), List.of(), place);
        }
        if (next == '{' && !words.isEmpty()) {
          at++;
          if (words.get(0).endsWith("_by_lua_block")) {
            skipCode();
            return new NginxDirective(List.copyOf(words), List.of(), place);
          }
          if (++depth > MOST_DEPTH) {
            throw wrong("too many blocks in each other (expected: at most " + MOST_DEPTH + ")");
          }
          List<NginxDirective> block = block(false);
          depth--;
          return new NginxDirective(List.copyOf(words), block, place);
        }
        String word = at < text.length() ? word() : null;
        if (word == null) {
          throw wrong(
              (at == text.length() ? "the end" : String.valueOf(next))
                  + " (expected: ; or { behind "
                  + (words.isEmpty() ? "a directive" : words.get(0))
                  + ")");
        }
        words.add(word);
      }
    }

    private void skipSpace() {
      while (at < text.length()) {
        char next = text.charAt(at);
        if (next == '#') {
          int end = text.indexOf('\n', at);
          String comment = text.substring(at, end < 0 ? text.length() : end).strip();
          if (dump && comment.startsWith(FILE_MARK) && comment.endsWith(":")) {
            file = comment.substring(FILE_MARK.length(), comment.length() - 1);
            line = 0;
          }
          at = end < 0 ? text.length() : end;
        } else if (!Character.isWhitespace(next)) {
          return;
        } else {
          line += next == '\n' ? 1 : 0;
          at++;
        }
      }
    }

    /** Skips Lua up to the brace that ends it; those in strings and comments do not count. */
    private void skipCode() {
      for (int depth = 1; depth > 0; ) {
        if (at >= text.length()) {
          throw wrong("the end (expected: } of a block)");
        }
        char next = text.charAt(at);
        if (next == '"' || next == '\'') {
          skipTo(String.valueOf(next), 1);
        } else if (text.startsWith("[[", at)) {
          skipTo("]]", 2);
        } else if (text.startsWith("--", at)) {
          skipTo("\n", 0);
        } else {
          line += next == '\n' ? 1 : 0;
          depth += next == '{' ? 1 : next == '}' ? -1 : 0;
          at++;
        }
      }
    }

    /** Skips {@code from} characters, and then up to behind the end of a part of Lua. */
    private void skipTo(String end, int from) {
      at += from;
      while (at < text.length() && !text.startsWith(end, at)) {
        line += text.charAt(at) == '\n' ? 1 : 0;
        at += text.charAt(at) == '\\' ? 2 : 1;
      }
      line += end.equals("\n") && at < text.length() ? 1 : 0;
      at += end.length();
    }

    private @Nullable String word() {
      StringBuilder word = new StringBuilder();
      char quote = text.charAt(at) == '"' || text.charAt(at) == '\'' ? text.charAt(at) : '\0';
      at += quote == '\0' ? 0 : 1;
      while (at < text.length()) {
        char next = text.charAt(at);
        if (next == '\\' && at + 1 < text.length()) {
          word.append(next).append(text.charAt(at + 1));
          at += 2;
        } else if (quote != '\0' && next == quote) {
          at++;
          return word.toString();
        } else if (next == '$' && text.startsWith("${", at)) {
          int end = text.indexOf('}', at);
          if (end < 0) {
            throw wrong("${ (expected: } behind the name of a variable)");
          }
          word.append('$').append(text, at + 2, end);
          at = end + 1;
        } else if (quote == '\0' && (Character.isWhitespace(next) || ";{}".indexOf(next) >= 0)) {
          break;
        } else {
          line += next == '\n' ? 1 : 0;
          word.append(next);
          at++;
        }
      }
      if (quote != '\0') {
        throw wrong("the end (expected: " + quote + " of a word)");
      }
      return word.length() == 0 ? null : word.toString();
    }
  }
}
