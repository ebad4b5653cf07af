package dev.weir.server.internal.resp;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A writer of replies of the Redis protocol, one after the other, into one array that is used again
 * and again. Confined to one event loop.
 */
final class RespWriter {
  private static final byte[] MIN_LONG =
      ":-9223372036854775808\r\n".getBytes(StandardCharsets.US_ASCII);

  private byte[] bytes;
  private int size;

  RespWriter(int capacity) {
    bytes = new byte[capacity];
  }

  void clear() {
    size = 0;
  }

  int size() {
    return size;
  }

  /** Returns the array with the replies, from 0 on and before {@link #size()}. */
  byte[] bytes() {
    return bytes;
  }

  RespWriter integer(long value) {
    if (value == Long.MIN_VALUE) {
      return raw(MIN_LONG);
    }
    return number(':', value);
  }

  RespWriter array(int length) {
    return number('*', length);
  }

  /** Begins a map: in version 2 of the protocol, an array of keys and values in turn. */
  RespWriter map(int entries, int version) {
    return version >= 3 ? number('%', entries) : number('*', 2L * entries);
  }

  RespWriter simple(String text) {
    return line('+', text);
  }

  /** Writes an error; line breaks in its text would end it early. */
  RespWriter error(String text) {
    return line('-', text.replace('\r', ' ').replace('\n', ' '));
  }

  RespWriter bulk(String text) {
    int length = text.length();
    number('$', length);
    need(length + 2);
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        size -= 3 + digits(length); // The text takes more bytes than it has characters.
        return encoded(text);
      }
      bytes[size + i] = (byte) c;
    }
    size += length;
    bytes[size++] = '\r';
    bytes[size++] = '\n';
    return this;
  }

  private RespWriter encoded(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return bulk(utf8, 0, utf8.length);
  }

  RespWriter bulk(byte[] from, int start, int end) {
    number('$', end - start);
    need(end - start + 2);
    System.arraycopy(from, start, bytes, size, end - start);
    size += end - start;
    bytes[size++] = '\r';
    bytes[size++] = '\n';
    return this;
  }

  RespWriter nil(int version) {
    return version >= 3 ? line('_', "") : line('$', "-1");
  }

  private RespWriter line(char type, String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    need(utf8.length + 3);
    bytes[size++] = (byte) type;
    System.arraycopy(utf8, 0, bytes, size, utf8.length);
    size += utf8.length;
    bytes[size++] = '\r';
    bytes[size++] = '\n';
    return this;
  }

  private RespWriter raw(byte[] text) {
    need(text.length);
    System.arraycopy(text, 0, bytes, size, text.length);
    size += text.length;
    return this;
  }

  private RespWriter number(char type, long value) {
    need(24);
    bytes[size++] = (byte) type;
    long rest = value;
    if (rest < 0) {
      bytes[size++] = '-';
      rest = -rest;
    }
    int end = size + digits(rest);
    for (int at = end - 1; at >= size; at--) {
      bytes[at] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    size = end;
    bytes[size++] = '\r';
    bytes[size++] = '\n';
    return this;
  }

  private static int digits(long value) {
    int digits = 1;
    for (long rest = value; rest >= 10; rest /= 10) {
      digits++;
    }
    return digits;
  }

  private void need(int more) {
    if (size + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
    }
  }
}
