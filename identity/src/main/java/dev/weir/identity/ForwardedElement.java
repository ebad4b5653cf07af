package dev.weir.identity;

import org.jspecify.annotations.Nullable;

/** One element of a Forwarded header (RFC 7239): {@code for=192.0.2.1;proto=https}. */
final class ForwardedElement {
  /**
   * The characters that addresses need besides those of tokens; they are often written without the
   * required quotes.
   */
  private static final String LENIENT = ":[]";

  private ForwardedElement() {}

  /**
   * Returns the address behind {@code for=}; null if the element is not well-formed, has none, or
   * has it twice. Texts between quotes are not unescaped: an address needs no escapes, and a
   * remaining quote or backslash shows that the element is not what its proxy meant.
   */
  static @Nullable IpAddress parse(CharSequence text, int from, int to) {
    IpAddress address = null;
    boolean found = false;
    for (int start = from, end; start < to; start = end + 1) {
      end = Span.find(text, ';', start, to);
      int pairFrom = Span.skip(text, start, end);
      int pairTo = Span.skipBack(text, pairFrom, end);
      if (pairFrom == pairTo) {
        continue;
      }
      int equals = Span.find(text, '=', pairFrom, pairTo);
      if (equals == pairTo || !HeaderNames.token(text, pairFrom, equals, "")) {
        return null;
      }
      int valueFrom = equals + 1;
      int valueTo = pairTo;
      if (quoted(text, valueFrom, valueTo)) {
        valueFrom++;
        valueTo--;
      } else if (!HeaderNames.token(text, valueFrom, valueTo, LENIENT)) {
        return null;
      }
      if (isFor(text, pairFrom, equals)) {
        if (found) {
          return null;
        }
        found = true;
        address = Node.parse(text, valueFrom, valueTo, true);
      }
    }
    return address;
  }

  private static boolean isFor(CharSequence text, int from, int to) {
    return to - from == 3
        && (text.charAt(from) | 0x20) == 'f'
        && (text.charAt(from + 1) | 0x20) == 'o'
        && (text.charAt(from + 2) | 0x20) == 'r';
  }

  /** Returns whether the text is between quotes, with neither quotes nor backslashes within. */
  private static boolean quoted(CharSequence text, int from, int to) {
    if (to - from < 2 || text.charAt(from) != '"') {
      return false;
    }
    int last = to - 1;
    return Span.find(text, '"', from + 1, to) == last
        && Span.find(text, '\\', from + 1, last) == last;
  }
}
