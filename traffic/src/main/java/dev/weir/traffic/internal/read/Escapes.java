package dev.weir.traffic.internal.read;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** A decoder of what servers do to quotes, backslashes and bytes that do not print. */
public final class Escapes {
  private Escapes() {}

  /** Returns whether there is any backslash. */
  static boolean any(byte[] data, int start, int end) {
    for (int i = start; i < end; i++) {
      if (data[i] == '\\') {
        return true;
      }
    }
    return false;
  }

  /** Returns the bytes without their escapes. */
  public static byte[] undone(byte[] data, int start, int end) {
    ByteArrayOutputStream plain = new ByteArrayOutputStream(end - start);
    int at = start;
    while (at < end) {
      byte b = data[at++];
      if (b != '\\' || at == end) {
        plain.write(b);
        continue;
      }
      byte escape = data[at++];
      int known = "\"\\nrtbfv".indexOf(escape);
      if (escape == 'x' && at + 2 <= end && hex(data[at]) >= 0 && hex(data[at + 1]) >= 0) {
        plain.write(16 * hex(data[at]) + hex(data[at + 1]));
        at += 2;
      } else if (known >= 0) {
        plain.write("\"\\\n\r\t\b\f\u000b".getBytes(StandardCharsets.US_ASCII)[known]);
      } else {
        plain.write('\\');
        plain.write(escape);
      }
    }
    return plain.toByteArray();
  }

  /**
   * Returns a line without the quotes around it. Quotes within it may be as they are, with a
   * backslash before each, or doubled; the first quote shows which.
   */
  static byte[] unwrapped(byte[] data, int start, int end) {
    int first = start + 1;
    while (first < end - 1 && data[first] != '"') {
      first++;
    }
    boolean slashes = data[first - 1] == '\\';
    boolean doubled = first + 1 < end - 1 && data[first + 1] == '"';
    ByteArrayOutputStream plain = new ByteArrayOutputStream(end - start);
    for (int at = start + 1; at < end - 1; at++) {
      boolean more = at + 1 < end - 1;
      if (slashes && more && data[at] == '\\' && (data[at + 1] == '"' || data[at + 1] == '\\')) {
        at++;
      } else if (doubled && more && data[at] == '"' && data[at + 1] == '"') {
        at++;
      }
      plain.write(data[at]);
    }
    return plain.toByteArray();
  }

  private static int hex(byte b) {
    return Character.digit(b, 16);
  }
}
