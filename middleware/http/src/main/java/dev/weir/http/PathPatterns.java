package dev.weir.http;

import dev.weir.rules.ShownText;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Patterns of paths: {@code /login} is that path alone, {@code /users/*} one segment more, {@code
 * /static/**} that path and all below it. Letters are compared as they are. Immutable.
 */
public final class PathPatterns {
  /*
   * Why are there two ways to match? A path can be written in several ways, for example //login,
   * /login/ or /static/../login, and servers and frameworks differ in which of them are one path. A
   * client must not escape a limit by another form of a path. So a path is exempt (matches) only if
   * it is written in the plain form, and is limited (covers) as soon as some server may take it for
   * one that the patterns name.
   */

  /** Patterns that match no path. */
  public static final PathPatterns NONE = new PathPatterns(List.of());

  private static final String ANY_SEGMENT = "*";
  private static final String REST = "**";

  /** Characters that no path has once it is decoded, and those that are patterns only elsewhere. */
  private static final String NOT_IN_PATTERNS = "%\\;?#{}";

  private final List<String[]> patterns;

  private PathPatterns(List<String[]> patterns) {
    this.patterns = patterns;
  }

  /**
   * Returns the patterns.
   *
   * @throws IllegalArgumentException if one does not begin with a slash, has {@code **} elsewhere
   *     than at its end or {@code *} within a segment, or is not a path that a client could send
   */
  public static PathPatterns of(Collection<String> texts) {
    List<String[]> patterns = new ArrayList<>();
    for (String text : texts) {
      String[] segments = text.split("/", -1);
      boolean path = segments.length >= 2 && segments[0].isEmpty();
      for (int i = 1; i < segments.length && path; i++) {
        path = segment(segments[i], i == segments.length - 1);
      }
      if (!path) {
        throw new IllegalArgumentException(
            "path: "
                + ShownText.quoted(text)
                + " (expected: a path such as /login, /users/* or /static/**)");
      }
      patterns.add(segments);
    }
    return new PathPatterns(List.copyOf(patterns));
  }

  private static boolean segment(String text, boolean last) {
    if (text.isEmpty() || text.equals(REST)) {
      return last; // It is empty behind a slash at the end.
    }
    return text.equals(ANY_SEGMENT)
        || (!text.equals(".")
            && !text.equals("..")
            && text.indexOf('*') < 0
            && text.chars()
                .noneMatch(c -> c < ' ' || c == 0x7f || NOT_IN_PATTERNS.indexOf(c) >= 0));
  }

  /** Returns whether there are no patterns. */
  public boolean isEmpty() {
    return patterns.isEmpty();
  }

  /**
   * Returns whether one of the patterns matches a path as it is written. No pattern matches a path
   * that a server could take for another one, for example {@code /static/../login}. The path is not
   * split, so that it costs no memory.
   */
  public boolean matches(String path) {
    for (String[] pattern : patterns) {
      if (matches(pattern, path)) {
        return plain(path);
      }
    }
    return false;
  }

  private static boolean matches(String[] pattern, String path) {
    int at = 0; // At the slash before a segment, or at the end of the path.
    for (int i = 1; i < pattern.length; i++) {
      String segment = pattern[i];
      if (segment.equals(REST)) {
        return at >= path.length() || path.charAt(at) == '/';
      }
      if (at >= path.length() || path.charAt(at) != '/') {
        return false;
      }
      int from = at + 1;
      int slash = path.indexOf('/', from);
      int to = slash < 0 ? path.length() : slash;
      boolean fits =
          segment.equals(ANY_SEGMENT)
              ? to > from
              : to - from == segment.length() && path.startsWith(segment, from);
      if (!fits) {
        return false;
      }
      at = to;
    }
    return at == path.length();
  }

  /** Returns whether the path can be read in one way only. */
  private static boolean plain(String path) {
    int segment = 0;
    for (int i = 0; i <= path.length(); i++) {
      char c = i < path.length() ? path.charAt(i) : '/';
      if (c == '/') {
        if (dots(path, segment, i) > 0) {
          return false;
        }
        segment = i + 1;
      } else if (c < ' ' || c == '%' || c == '\\' || c == ';') {
        return false;
      }
    }
    return true;
  }

  /** Returns 1 or 2 if the segment is one or two dots, else 0. */
  private static int dots(String path, int from, int to) {
    int length = to - from;
    boolean dots = length == 1 || length == 2;
    for (int i = from; i < to && dots; i++) {
      dots = path.charAt(i) == '.';
    }
    return dots ? length : 0;
  }

  /**
   * Returns whether a server may take the path for one that a pattern matches: it has more slashes
   * or fewer, backslashes, dots for segments, matrix parameters, or is encoded.
   */
  boolean covers(String path) {
    return coversDecoded(path) || (path.indexOf('%') >= 0 && coversDecoded(decoded(path)));
  }

  private boolean coversDecoded(String path) {
    if (goesUp(path)) {
      return true; // The server decides where it leads.
    }
    for (String[] pattern : patterns) {
      if (covers(pattern, path)) {
        return true;
      }
    }
    return false;
  }

  private static boolean goesUp(String path) {
    for (int from = next(path, 0); from < path.length(); from = next(path, end(path, from))) {
      if (dots(path, from, name(path, from)) == 2) {
        return true;
      }
    }
    return false;
  }

  /** Compares segment by segment, and leaves out those that are empty or one dot. */
  private static boolean covers(String[] pattern, String path) {
    int from = next(path, 0);
    for (int i = 1; i < pattern.length; i++) {
      String segment = pattern[i];
      if (segment.equals(REST)) {
        return true;
      }
      if (segment.isEmpty()) {
        continue;
      }
      if (from == path.length()) {
        return false;
      }
      int length = name(path, from) - from;
      boolean same = length == segment.length() && path.startsWith(segment, from);
      if (!same && !segment.equals(ANY_SEGMENT)) {
        return false;
      }
      from = next(path, end(path, from));
    }
    return from == path.length();
  }

  /** Returns where the next segment with a name begins, or the end of the path. */
  private static int next(String path, int from) {
    int at = from;
    while (at < path.length()) {
      if (separates(path.charAt(at))) {
        at++;
      } else {
        int name = name(path, at);
        if (name > at && dots(path, at, name) != 1) {
          return at;
        }
        at = end(path, at);
      }
    }
    return path.length();
  }

  /** Returns the end of the segment. */
  private static int end(String path, int from) {
    int at = from;
    while (at < path.length() && !separates(path.charAt(at))) {
      at++;
    }
    return at;
  }

  /** Returns the end of the segment's name, which is before its matrix parameters. */
  private static int name(String path, int from) {
    int at = from;
    while (at < path.length() && path.charAt(at) != ';' && !separates(path.charAt(at))) {
      at++;
    }
    return at;
  }

  private static boolean separates(char c) {
    return c == '/' || c == '\\';
  }

  private static String decoded(String path) {
    try {
      return URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return path; // No server decodes it.
    }
  }
}
