package dev.weir.identity;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Readers of single values in a request's texts. A value that is present twice counts as absent.
 */
final class RequestTexts {
  private RequestTexts() {}

  /** Returns the text of the only line, null if there is none, or several. */
  static @Nullable String only(List<String> lines) {
    return lines.size() == 1 ? lines.get(0).strip() : null;
  }

  /** Returns the authority's host in lower case, without a port or a dot at its end. */
  static @Nullable String hostName(@Nullable String authority) {
    if (authority == null) {
      return null;
    }
    int bracket = authority.lastIndexOf(']');
    int colon = authority.indexOf(':', bracket + 1);
    String host = colon < 0 ? authority : authority.substring(0, colon);
    String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    return name.toLowerCase(Locale.ROOT);
  }

  /** Returns the parameter's value, decoded as in a form; null if absent or present twice. */
  static @Nullable String query(@Nullable String text, String name) {
    if (text == null) {
      return null;
    }
    String found = null;
    for (int from = 0, end; from < text.length(); from = end + 1) {
      end = Span.find(text, '&', from, text.length());
      int equals = Span.find(text, '=', from, end);
      if (name.equals(decoded(text.substring(from, equals)))) {
        String value = decoded(text.substring(Math.min(equals + 1, end), end));
        if (found != null || value == null) {
          return null;
        }
        found = value;
      }
    }
    return found;
  }

  /** Returns the text with its percent escapes decoded; null if one of them is wrong. */
  private static @Nullable String decoded(String text) {
    if (text.indexOf('%') < 0 && text.indexOf('+') < 0) {
      return text;
    }
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** Returns the cookie's value without its quotes; null if absent or present twice (RFC 6265). */
  static @Nullable String cookie(List<String> lines, String name) {
    String found = null;
    for (String line : lines) {
      for (int from = 0, end; from < line.length(); from = end + 1) {
        end = Span.find(line, ';', from, line.length());
        int start = Span.skip(line, from, end);
        int equals = Span.find(line, '=', start, end);
        if (equals == end || equals - start != name.length() || !line.startsWith(name, start)) {
          continue;
        }
        if (found != null) {
          return null;
        }
        found = unquoted(line.substring(equals + 1, Span.skipBack(line, equals + 1, end)));
      }
    }
    return found;
  }

  private static String unquoted(String text) {
    boolean quoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
    return quoted ? text.substring(1, text.length() - 1) : text;
  }
}
