package dev.weir.server.internal.resp;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A parser of the commands that a client of the Redis protocol sends: arrays of bulk strings, or
 * lines of words. Nothing is copied: the arguments are positions in the caller's bytes. [Redis
 * serialization protocol specification, versions 2 and 3: commands are the same in both]
 *
 * <p>Parsing of an incomplete command continues when more of it has come. No byte is read twice,
 * except those of a line without an end. Confined to one connection.
 */
final class RespParser {
  /** The result of {@link #parse} for an incomplete command. */
  static final int MORE = -1;

  /** The most bytes of a line with a number or length, which takes at most 13 characters. */
  private static final int MAX_HEADER_BYTES = 32;

  private static final int MAX_INLINE_BYTES = 64 << 10;
  private static final int FIRST_ARGUMENTS = 8;
  private static final int MANY_ARGUMENTS = 64;
  private static final long NOT_A_NUMBER = Long.MIN_VALUE;

  private int maxArguments;
  private int maxArgumentBytes;
  private int maxCommandBytes;

  // The command: the announced number of arguments, those found, and the position to continue at.
  private int expected = MORE;
  private int count;
  private int next;
  private int[] starts = new int[FIRST_ARGUMENTS];
  private int[] ends = new int[FIRST_ARGUMENTS];

  RespParser(int maxArguments, int maxArgumentBytes, int maxCommandBytes) {
    limits(maxArguments, maxArgumentBytes, maxCommandBytes);
  }

  void limits(int arguments, int argumentBytes, int commandBytes) {
    maxArguments = arguments;
    maxArgumentBytes = argumentBytes;
    maxCommandBytes = commandBytes;
  }

  /** Gives back the room for very many arguments, unless a command is incomplete. */
  void forget() {
    if (expected == MORE && starts.length > MANY_ARGUMENTS) {
      count = 0;
      starts = new int[FIRST_ARGUMENTS];
      ends = new int[FIRST_ARGUMENTS];
    }
  }

  /** Returns the number of the command's arguments, including its name; 0 for an empty command. */
  int count() {
    return count;
  }

  /** Returns the beginning of argument {@code i}, counted from the beginning of the command. */
  int start(int i) {
    return starts[i];
  }

  /** Returns the end of argument {@code i}, counted from the beginning of the command. */
  int end(int i) {
    return ends[i];
  }

  /**
   * Parses one command.
   *
   * @param from the beginning of the command: the end of the last one, and the same value again if
   *     the result was {@link #MORE}
   * @return its end, or {@link #MORE} if it does not end before {@code to}
   * @throws RespError if it is not a command
   */
  int parse(byte[] bytes, int from, int to) throws RespError {
    if (expected == MORE) {
      count = 0;
      next = 0;
      if (from == to) {
        return MORE;
      }
      if (bytes[from] != '*') {
        return inline(bytes, from, to);
      }
      int end = lineEnd(bytes, from, to, "too big mbulk count string");
      if (end == MORE) {
        return MORE;
      }
      long number = number(bytes, from + 1, end);
      if (number == NOT_A_NUMBER || number > maxArguments) {
        throw new RespError("invalid multibulk length");
      }
      next = end + 2 - from;
      if (number <= 0) {
        return from + next;
      }
      expected = (int) number;
    }
    while (count < expected) {
      int at = from + next;
      if (at >= to) {
        return MORE;
      }
      if (bytes[at] != '$') {
        throw new RespError("expected '$', got '" + printable(bytes[at]) + "'");
      }
      int end = lineEnd(bytes, at, to, "too big bulk count string");
      if (end == MORE) {
        return MORE;
      }
      long length = number(bytes, at + 1, end);
      if (length < 0 || length > maxArgumentBytes) {
        throw new RespError("invalid bulk length");
      }
      long last = (long) end + 2 + length;
      if (last - from > maxCommandBytes) {
        throw new RespError("too big command");
      }
      if (last + 2 > to) {
        return MORE;
      }
      if (bytes[(int) last] != '\r' || bytes[(int) last + 1] != '\n') {
        throw new RespError("expected line end after bulk string");
      }
      add(end + 2 - from, (int) last - from);
      next = (int) last + 2 - from;
    }
    expected = MORE;
    return from + next;
  }

  private void add(int start, int end) {
    if (count == starts.length) {
      starts = Arrays.copyOf(starts, 2 * count);
      ends = Arrays.copyOf(ends, 2 * count);
    }
    starts[count] = start;
    ends[count] = end;
    count++;
  }

  /** Returns the beginning of a header line's end. */
  private static int lineEnd(byte[] bytes, int from, int to, String tooLong) throws RespError {
    int most = Math.min(to - 1, from + MAX_HEADER_BYTES);
    for (int i = from + 1; i < most; i++) {
      if (bytes[i] == '\r' && bytes[i + 1] == '\n') {
        return i;
      }
    }
    if (to - from > MAX_HEADER_BYTES) {
      throw new RespError(tooLong);
    }
    return MORE;
  }

  /** Reads a decimal number of at most 10 digits. */
  private static long number(byte[] bytes, int from, int to) {
    boolean negative = from < to && bytes[from] == '-';
    int at = negative ? from + 1 : from;
    if (at == to || to - at > 10) {
      return NOT_A_NUMBER;
    }
    long value = 0;
    for (; at < to; at++) {
      int digit = bytes[at] - '0';
      if (digit < 0 || digit > 9) {
        return NOT_A_NUMBER;
      }
      value = 10 * value + digit;
    }
    return negative ? -value : value;
  }

  private static String printable(byte b) {
    return b > ' ' && b < 127
        ? new String(new byte[] {b}, StandardCharsets.US_ASCII)
        : String.format("\\x%02x", b & 0xFF);
  }

  /** Parses a line of words, some of them in quotes, whose escapes are resolved in place. */
  private int inline(byte[] bytes, int from, int to) throws RespError {
    int most = Math.min(MAX_INLINE_BYTES, maxArgumentBytes);
    int end = from + next;
    while (end < to && bytes[end] != '\n') {
      end++;
    }
    if (end - from > most) {
      throw new RespError("too big inline request");
    }
    if (end == to) {
      return MORE;
    }
    int lineEnd = end > from && bytes[end - 1] == '\r' ? end - 1 : end;
    int at = from;
    while (at < lineEnd) {
      if (blank(bytes[at])) {
        at++;
      } else {
        if (count == maxArguments) {
          throw new RespError("too many words");
        }
        at = word(bytes, at, lineEnd, from);
      }
    }
    return end + 1;
  }

  private static boolean blank(byte b) {
    return b == ' ' || b == '\t';
  }

  private int word(byte[] bytes, int start, int lineEnd, int from) throws RespError {
    byte quote = bytes[start] == '"' || bytes[start] == '\'' ? bytes[start] : 0;
    int in = quote == 0 ? start : start + 1;
    int out = in;
    int first = in;
    while (in < lineEnd && (quote == 0 ? !blank(bytes[in]) : bytes[in] != quote)) {
      if (quote == '"' && bytes[in] == '\\' && in + 1 < lineEnd) {
        int hex = bytes[in + 1] == 'x' ? hex(bytes, in + 2, lineEnd) : -1;
        bytes[out++] = hex >= 0 ? (byte) hex : escaped(bytes[in + 1]);
        in += hex >= 0 ? 4 : 2;
      } else if (quote == '\'' && bytes[in] == '\\' && in + 1 < lineEnd && bytes[in + 1] == '\'') {
        bytes[out++] = '\'';
        in += 2;
      } else {
        bytes[out++] = bytes[in++];
      }
    }
    if (quote != 0) {
      if (in == lineEnd || (in + 1 < lineEnd && !blank(bytes[in + 1]))) {
        throw new RespError("unbalanced quotes in request");
      }
      in++;
    }
    add(first - from, out - from);
    return in;
  }

  private static byte escaped(byte letter) {
    return switch (letter) {
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'b' -> '\b';
      case 'a' -> 7;
      default -> letter;
    };
  }

  private static int hex(byte[] bytes, int at, int lineEnd) {
    if (at + 1 >= lineEnd) {
      return -1;
    }
    int high = Character.digit(bytes[at], 16);
    int low = Character.digit(bytes[at + 1], 16);
    return high < 0 || low < 0 ? -1 : 16 * high + low;
  }
}
