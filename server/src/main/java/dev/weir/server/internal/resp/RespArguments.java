package dev.weir.server.internal.resp;

import dev.weir.Quota;
import dev.weir.engine.RequestBatch;
import dev.weir.protocol.http.BadRequest;
import dev.weir.rules.Request;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One command's name and arguments, in the bytes that a parser found them in. The object is used
 * again.
 */
final class RespArguments {
  private static final int MAX_SHOWN = 40;

  private static final byte[] NONE = {};

  private byte[] bytes = NONE;
  private int base;
  private int last;
  private RespParser parser;

  RespArguments(RespParser parser) {
    this.parser = parser;
  }

  RespArguments of(RespParser found, byte[] in, int from, int to) {
    parser = found;
    bytes = in;
    base = from;
    last = to;
    return this;
  }

  /**
   * Drops the bytes of a command that has been run, and the room of one with very many arguments.
   */
  void forget() {
    bytes = NONE;
    parser.forget();
  }

  int count() {
    return parser.count();
  }

  byte[] bytes() {
    return bytes;
  }

  /** Returns the beginning of the whole command in those bytes. */
  int from() {
    return base;
  }

  /** Returns the end of the whole command. */
  int to() {
    return last;
  }

  int start(int i) {
    return base + parser.start(i);
  }

  int end(int i) {
    return base + parser.end(i);
  }

  String text(int i) {
    return new String(bytes, start(i), end(i) - start(i), StandardCharsets.UTF_8);
  }

  /**
   * Returns a text.
   *
   * @throws BadRequest if it is not UTF-8: with replacement characters, different keys would be one
   */
  String utf8(int i, String name) throws BadRequest {
    String text = text(i);
    byte[] again = text.indexOf('\uFFFD') < 0 ? null : text.getBytes(StandardCharsets.UTF_8);
    if (again != null && !Arrays.equals(again, 0, again.length, bytes, start(i), end(i))) {
      throw new BadRequest(name + ": not UTF-8 (expected: text in UTF-8)");
    }
    return text;
  }

  /** Returns an argument in the form for an error: short, and all printable. */
  String shown(int i) {
    String text = text(i).replaceAll("\\p{Cntrl}", "?");
    return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "...";
  }

  /** Returns whether an argument is that word, in letters of any case. */
  boolean is(int i, String upperCase) {
    int start = start(i);
    int length = end(i) - start;
    if (length != upperCase.length()) {
      return false;
    }
    for (int at = 0; at < length; at++) {
      int c = bytes[start + at];
      if ((c >= 'a' && c <= 'z' ? c - 32 : c) != upperCase.charAt(at)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns a whole number.
   *
   * @throws BadRequest if it is not a number, or out of the range
   */
  long number(int i, String name, long min, long max) throws BadRequest {
    int at = start(i);
    int end = end(i);
    boolean negative = at < end && bytes[at] == '-';
    if (negative) {
      at++;
    }
    boolean good = at < end && end - at <= 18;
    long value = 0;
    for (; good && at < end; at++) {
      int digit = bytes[at] - '0';
      good = digit >= 0 && digit <= 9;
      value = 10 * value + digit;
    }
    if (negative) {
      value = -value;
    }
    if (!good || value < min || value > max) {
      throw new BadRequest(
          name + ": " + shown(i) + " (expected: a whole number, " + min + ".." + max + ")");
    }
    return value;
  }

  /**
   * Returns the request of a command whose arguments are a domain, permits, and keys and values of
   * entries in turn.
   *
   * @throws BadRequest if the arguments are not well-formed
   */
  Request request() throws BadRequest {
    String domain = utf8(1, "domain");
    long permits = number(2, "permits", 0, Quota.MAX_PERMITS);
    int count = count() - 3;
    String[] keysAndValues = new String[count];
    for (int i = 0; i < count; i++) {
      keysAndValues[i] = utf8(i + 3, i % 2 == 0 ? "entry key" : "entry value");
    }
    return RequestBatch.request(domain, keysAndValues, count, permits);
  }
}
