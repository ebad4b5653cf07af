package dev.weir.checks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The running text of a Markdown page: paragraphs, headings, items of lists and cells of tables,
 * without code blocks, addresses and emphasis.
 */
final class Prose {
  private static final Pattern ITEM = Pattern.compile("^\\s*(?:[-*]|\\d+\\.) +");
  private static final Pattern CELLS = Pattern.compile("(?<!\\\\)\\|(?=(?:[^`]*`[^`]*`)*[^`]*$)");
  private static final Pattern IMAGE = Pattern.compile("!\\[[^\\]]*\\]\\([^)]*\\)");
  private static final Pattern LINK = Pattern.compile("\\[([^\\]]*)\\]\\([^)]*\\)");
  private static final Pattern ADDRESS = Pattern.compile("https?://\\S+");
  private static final Pattern EMPHASIS = Pattern.compile("\\*\\*|(?<!\\w)[*_]|[*_](?!\\w)");
  private static final Pattern CODE = Pattern.compile("`+([^`]*)`+");
  private static final Pattern TAG = Pattern.compile("<[^>]*>");

  /** The quotes around a piece of code. */
  private static final char OPEN = '\u201c';

  private static final char CLOSE = '\u201d';

  private static final String FENCE = "```";
  private static final String INDENT = "    ";

  /**
   * A piece of text.
   *
   * @param line the number of its first line, from 1
   */
  record Piece(Path page, int line, String text) {
    /** Returns whether the character at a position belongs to a piece of code. */
    boolean isCode(int position) {
      return text.lastIndexOf(OPEN, position) > text.lastIndexOf(CLOSE, position);
    }
  }

  private final Path page;
  private final List<Piece> pieces = new ArrayList<>();
  private final StringBuilder open = new StringBuilder();
  private int line;
  private int first;

  private Prose(Path page) {
    this.page = page;
  }

  /** Returns the pieces of a page, in order. */
  static List<Piece> of(Path page) {
    Prose prose = new Prose(page);
    prose.read(Module.read(page).lines().toList());
    return prose.pieces;
  }

  private void read(List<String> lines) {
    boolean fenced = false;
    for (String text : lines) {
      line++;
      boolean fence = text.strip().startsWith(FENCE);
      boolean code = open.isEmpty() && text.startsWith(INDENT);
      if (fence || fenced || code || text.isBlank()) {
        end();
        fenced = fence != fenced;
      } else if (text.startsWith("#")) {
        end();
        add(text.replaceFirst("^#+ *", ""));
        end();
      } else if (text.startsWith("|")) {
        end();
        row(text);
      } else {
        if (ITEM.matcher(text).find()) {
          end();
        }
        add(ITEM.matcher(text).replaceFirst(""));
      }
    }
    end();
  }

  private void row(String text) {
    for (String cell : CELLS.split(text, -1)) {
      if (!cell.isBlank() && !cell.matches("[ :-]+")) {
        add(cell.strip());
        end();
      }
    }
  }

  private void add(String text) {
    if (open.isEmpty()) {
      first = line;
    }
    open.append(open.isEmpty() ? "" : " ").append(text.strip());
  }

  private void end() {
    if (!open.isEmpty()) {
      pieces.add(new Piece(page, first, plain(open.toString())));
      open.setLength(0);
    }
  }

  /** Returns a text without Markdown, with quotes around code. */
  private static String plain(String text) {
    String plain = IMAGE.matcher(text).replaceAll("");
    plain = TAG.matcher(plain).replaceAll("");
    plain = LINK.matcher(plain).replaceAll("$1");
    plain = ADDRESS.matcher(plain).replaceAll("the address");
    plain = CODE.matcher(plain).replaceAll(OPEN + "$1" + CLOSE);
    return EMPHASIS.matcher(plain).replaceAll("").replace("\\|", "|").strip();
  }
}
