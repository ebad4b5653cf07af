package dev.weir.rules.internal.parse;

import dev.weir.rules.Position;
import dev.weir.rules.Problem;
import dev.weir.rules.Severity;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;

/**
 * Messages for text that is not YAML: the mistake, at its own position rather than where the error
 * appeared.
 */
final class SyntaxHints {
  private SyntaxHints() {}

  /** Returns the problem behind an error of the YAML library. */
  static Problem problem(String file, String text, MarkedYamlEngineException e) {
    String context = e.getContext() == null ? "" : e.getContext();
    String said = Words.shown(e.getProblem().replaceAll("\\s+", " ").strip());
    Optional<Mark> where = e.getProblemMark().or(e::getContextMark);
    Position position = where.map(mark -> at(file, mark)).orElse(Position.ofFile(file));
    if (context.contains("quoted scalar") && said.contains("end of stream")) {
      Position opened = e.getContextMark().map(mark -> at(file, mark)).orElse(position);
      return error(opened, "quote: not closed (expected: the same quote at the end of the text)");
    }
    if (said.contains("\\t(TAB)")) {
      return error(position, "indentation: a tab (expected: blanks)");
    }
    if (context.contains("alias")) {
      return error(
          position, "syntax: * without a name (expected: quotes around a text that begins with *)");
    }
    if (where.isPresent()
        && (said.contains("mapping values are not allowed")
            || said.contains("<block mapping start>"))) {
      Position before = withoutColon(file, text, where.get().getLine());
      if (before != null) {
        return error(before, "syntax: no colon in this line (expected: key: value)");
      }
    }
    return error(
        position,
        "syntax: " + said + (context.isBlank() ? "" : " " + context) + " (expected: YAML)");
  }

  /** Returns the position of the text in the line before, if that lacks a colon; else null. */
  private static @Nullable Position withoutColon(String file, String text, int lineOfError) {
    List<String> lines = text.lines().limit(lineOfError).toList();
    for (int i = lines.size() - 1; i >= 0; i--) {
      String line = lines.get(i).strip();
      if (!line.isEmpty() && line.charAt(0) != '#') {
        int column = lines.get(i).indexOf(line.charAt(0)) + 1;
        return line.indexOf(':') < 0 ? new Position(file, i + 1, column) : null;
      }
    }
    return null;
  }

  private static Position at(String file, Mark mark) {
    return new Position(file, mark.getLine() + 1, mark.getColumn() + 1);
  }

  private static Problem error(Position position, String message) {
    return new Problem(Severity.ERROR, position, message);
  }
}
