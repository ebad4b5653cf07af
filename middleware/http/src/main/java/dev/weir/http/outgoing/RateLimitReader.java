package dev.weir.http.outgoing;

import java.util.List;

/**
 * A reader of the field {@code RateLimit} as of draft-ietf-httpapi-ratelimit-headers, revision 11:
 * a list of structured-field Strings (RFC 9651, section 4.2) with the parameters {@code r}, permits
 * left, and {@code t}, seconds until there are more. Used by one thread.
 */
final class RateLimitReader {
  /*
   * Only one kind of list is read, and only two integers of it matter. So a cursor over the text is
   * enough, and HTTP clients need no further library. The reader checks all of RFC 9651, because a
   * field with any mistake counts as absent.
   */

  /** The longest field; no rate limiter sends a longer one. */
  private static final int MAX_LENGTH = 8_192;

  private static final long SECOND = 1_000_000_000L;
  private static final long MAX_SECONDS = 999_999_999L;

  /** The value of an integer that is absent or of another type. */
  private static final long ABSENT = Long.MIN_VALUE;

  private static final int MAX_INTEGER_DIGITS = 15;
  private static final int MAX_WHOLE_DIGITS = 12;
  private static final int MAX_FRACTION_DIGITS = 3;
  private static final String TOKEN = "!#$%&'*+-.^_`|~:/";

  /** The error of a text that is not a structured field. */
  private static final class MalformedException extends Exception {
    private static final long serialVersionUID = 1L;

    MalformedException() {
      super(null, null, false, false);
    }
  }

  private final String text;
  private int next;
  private long remaining;
  private long seconds;

  private RateLimitReader(String text) {
    this.text = text;
  }

  /**
   * Returns the time until all policies without permits have some, in nanoseconds: {@link
   * RetryAfter#NONE} if there is no such policy, it does not state a time, or the field is
   * malformed.
   *
   * @param lines of the field, in order
   */
  static long nanos(List<String> lines) {
    int length = 0;
    for (String line : lines) {
      length += line.length();
      if (length > MAX_LENGTH) {
        return RetryAfter.NONE;
      }
    }
    if (length == 0) {
      return RetryAfter.NONE;
    }
    try {
      return new RateLimitReader(String.join(",", lines)).list();
    } catch (MalformedException e) {
      return RetryAfter.NONE;
    }
  }

  private long list() throws MalformedException {
    long longest = RetryAfter.NONE;
    skip(" ");
    while (true) {
      boolean policy = peek() == '"';
      member();
      if (policy && remaining == 0 && seconds >= 0) {
        longest = Math.max(longest, Math.min(seconds, MAX_SECONDS) * SECOND);
      }
      skip(" \t");
      if (next == text.length()) {
        return longest;
      }
      expect(',');
      skip(" \t");
    }
  }

  private void member() throws MalformedException {
    if (peek() == '(') {
      next++;
      skip(" ");
      while (peek() != ')') {
        item();
        parameters();
        if (peek() != ')') {
          expect(' ');
          skip(" ");
        }
      }
      next++;
    } else {
      item();
    }
    parameters();
  }

  /** Reads parameters; of several with one name the last counts. */
  private void parameters() throws MalformedException {
    remaining = ABSENT;
    seconds = ABSENT;
    while (peek() == ';') {
      next++;
      skip(" ");
      String name = name();
      long value = ABSENT;
      if (peek() == '=') {
        next++;
        value = item();
      }
      if (name.equals("r")) {
        remaining = value;
      } else if (name.equals("t")) {
        seconds = value;
      }
    }
  }

  private String name() throws MalformedException {
    int start = next;
    if (peek() != '*' && !isLower(peek())) {
      throw new MalformedException();
    }
    while (isLower(peek()) || isDigit(peek()) || within("_-.*")) {
      next++;
    }
    return text.substring(start, next);
  }

  /** Reads a bare item; returns its value if it is an integer. */
  private long item() throws MalformedException {
    char first = peek();
    if (first == '-' || isDigit(first)) {
      return number();
    }
    if (first == '"') {
      string();
    } else if (first == '*' || isLetter(first)) {
      while (isLetter(peek()) || isDigit(peek()) || within(TOKEN)) {
        next++;
      }
    } else if (first == ':') {
      next++;
      while (isLetter(peek()) || isDigit(peek()) || within("+/=")) {
        next++;
      }
      expect(':');
    } else if (first == '?') {
      next++;
      if (!within("01")) {
        throw new MalformedException();
      }
      next++;
    } else if (first == '@') {
      next++;
      if (number() == ABSENT) {
        throw new MalformedException();
      }
    } else if (first == '%') {
      next++;
      displayString();
    } else {
      throw new MalformedException();
    }
    return ABSENT;
  }

  private long number() throws MalformedException {
    int start = next;
    if (peek() == '-') {
      next++;
    }
    int whole = digits();
    if (peek() == '.') {
      next++;
      int fraction = digits();
      if (whole > MAX_WHOLE_DIGITS || fraction > MAX_FRACTION_DIGITS) {
        throw new MalformedException();
      }
      return ABSENT;
    }
    if (whole > MAX_INTEGER_DIGITS) {
      throw new MalformedException();
    }
    return Long.parseLong(text.substring(start, next));
  }

  private int digits() throws MalformedException {
    int start = next;
    while (isDigit(peek())) {
      next++;
    }
    if (next == start) {
      throw new MalformedException();
    }
    return next - start;
  }

  private void string() throws MalformedException {
    expect('"');
    while (peek() != '"') {
      if (peek() == '\\') {
        next++;
        if (!within("\"\\")) {
          throw new MalformedException();
        }
      }
      printable();
    }
    next++;
  }

  private void displayString() throws MalformedException {
    expect('"');
    while (peek() != '"') {
      if (peek() == '%') {
        next++;
        hexDigit();
        hexDigit();
      } else {
        printable();
      }
    }
    next++;
  }

  private void hexDigit() throws MalformedException {
    if (!within("0123456789abcdef")) {
      throw new MalformedException();
    }
    next++;
  }

  private void printable() throws MalformedException {
    if (peek() < ' ' || peek() > '~') {
      throw new MalformedException();
    }
    next++;
  }

  private void expect(char expected) throws MalformedException {
    if (peek() != expected) {
      throw new MalformedException();
    }
    next++;
  }

  private void skip(String characters) {
    while (within(characters)) {
      next++;
    }
  }

  private boolean within(String characters) {
    return next < text.length() && characters.indexOf(text.charAt(next)) >= 0;
  }

  /** Returns the next character; at the end one that is valid nowhere. */
  private char peek() {
    return next < text.length() ? text.charAt(next) : '\0';
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private static boolean isLower(char c) {
    return c >= 'a' && c <= 'z';
  }

  private static boolean isLetter(char c) {
    return isLower(c) || (c >= 'A' && c <= 'Z');
  }
}
