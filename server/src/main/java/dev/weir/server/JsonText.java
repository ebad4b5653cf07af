package dev.weir.server;

import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes a small JSON text from front to back, straight into UTF-8. Half of a surrogate pair, which
 * is no character, becomes a question mark. Not safe for use by several threads.
 */
final class JsonText {
  private static final byte[] HEX = ascii("0123456789ABCDEF");
  private static final byte[] TRUE = ascii("true");
  private static final byte[] FALSE = ascii("false");
  private static final byte[] LEAST_LONG = ascii(Long.toString(Long.MIN_VALUE));

  /** Of a long: a sign and 19 digits. */
  private static final int MAX_DIGITS = 20;

  /** Of one char: a control character's escape. */
  private static final int MAX_CHAR_BYTES = 6;

  private byte[] bytes = new byte[512];
  private int length;

  /** Whether what comes next follows something in the same object or array. */
  private boolean comma;

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  JsonText object() {
    next();
    return open('{');
  }

  JsonText object(String field) {
    name(field);
    return open('{');
  }

  JsonText array(String field) {
    name(field);
    return open('[');
  }

  /** Ends the innermost object. */
  JsonText end() {
    return close('}');
  }

  JsonText endArray() {
    return close(']');
  }

  JsonText field(String name, String value) {
    name(name);
    string(value);
    return this;
  }

  JsonText field(String name, long value) {
    name(name);
    number(value);
    return this;
  }

  JsonText field(String name, boolean value) {
    name(name);
    raw(value ? TRUE : FALSE);
    return this;
  }

  JsonText value(String value) {
    next();
    string(value);
    return this;
  }

  private JsonText open(char bracket) {
    room(1);
    bytes[length++] = (byte) bracket;
    comma = false;
    return this;
  }

  private JsonText close(char bracket) {
    room(1);
    bytes[length++] = (byte) bracket;
    comma = true;
    return this;
  }

  private void next() {
    if (comma) {
      room(1);
      bytes[length++] = ',';
    }
    comma = true;
  }

  private void name(String name) {
    next();
    string(name);
    room(1);
    bytes[length++] = ':';
  }

  private void raw(byte[] text) {
    room(text.length);
    System.arraycopy(text, 0, bytes, length, text.length);
    length += text.length;
  }

  private void number(long value) {
    if (value == Long.MIN_VALUE) {
      raw(LEAST_LONG); // It has no positive counterpart.
      return;
    }
    room(MAX_DIGITS);
    long rest = Math.abs(value);
    if (value < 0) {
      bytes[length++] = '-';
    }
    int end = length + 1;
    for (long tens = rest / 10; tens > 0; tens /= 10) {
      end++;
    }
    for (int at = end - 1; at >= length; at--) {
      bytes[at] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    length = end;
  }

  private void string(String text) {
    room(MAX_CHAR_BYTES * text.length() + 2);
    bytes[length++] = '"';
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        i += beyondAscii(text, i) - 1;
      } else if (c < ' ' || c == '"' || c == '\\') {
        escape(c);
      } else {
        bytes[length++] = (byte) c;
      }
    }
    bytes[length++] = '"';
  }

  private void escape(char c) {
    bytes[length++] = '\\';
    switch (c) {
      case '"', '\\' -> bytes[length++] = (byte) c;
      case '\b' -> bytes[length++] = 'b';
      case '\t' -> bytes[length++] = 't';
      case '\n' -> bytes[length++] = 'n';
      case '\f' -> bytes[length++] = 'f';
      case '\r' -> bytes[length++] = 'r';
      default -> {
        bytes[length++] = 'u';
        bytes[length++] = '0';
        bytes[length++] = '0';
        bytes[length++] = HEX[c >> 4];
        bytes[length++] = HEX[c & 0xF];
      }
    }
  }

  /** Writes the character there; returns how many chars it is. */
  private int beyondAscii(String text, int at) {
    int c = text.codePointAt(at);
    if (c < 0x800) {
      bytes[length++] = (byte) (0xC0 | (c >> 6));
    } else if (c >= 0x10000) {
      bytes[length++] = (byte) (0xF0 | (c >> 18));
      bytes[length++] = (byte) (0x80 | ((c >> 12) & 0x3F));
      bytes[length++] = (byte) (0x80 | ((c >> 6) & 0x3F));
    } else if (Character.isSurrogate((char) c)) {
      bytes[length++] = '?';
      return 1;
    } else {
      bytes[length++] = (byte) (0xE0 | (c >> 12));
      bytes[length++] = (byte) (0x80 | ((c >> 6) & 0x3F));
    }
    bytes[length++] = (byte) (0x80 | (c & 0x3F));
    return Character.charCount(c);
  }

  private void room(int more) {
    if (more > bytes.length - length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, Math.addExact(length, more)));
    }
  }

  /** Returns what has been written. */
  Buffer buffer() {
    return Buffer.buffer(length).appendBytes(bytes, 0, length);
  }

  @Override
  public String toString() {
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }
}
