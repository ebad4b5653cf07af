package dev.weir.server.internal.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A reader of the usual head of a request {@code POST /json} or {@code POST /v1/check}. It accepts
 * only heads that {@link HttpFraming}, {@link HttpHead} and the codec accept as well, and that lead
 * to the same answer. [RFC 9112, sections 2 to 6] Confined to one event loop.
 */
final class QuickHead {
  /** The largest head; larger ones are rare. */
  static final int MAX_BYTES = 4 << 10;

  private static final byte[] JSON_LINE = ascii("POST /json HTTP/1.1\r\n");
  private static final byte[] CHECK_LINE = ascii("POST /v1/check HTTP/1.1\r\n");

  private static final byte[] HOST = ascii("host");
  private static final byte[] LENGTH = ascii("content-length");
  private static final byte[] TYPE = ascii("content-type");
  private static final byte[] ACCEPT = ascii("accept");
  private static final byte[] JSON = ascii("application/json");
  private static final byte[] ANY = ascii("*/*");
  private static final byte[] CONNECTION = ascii("connection");
  private static final byte[] KEEP_ALIVE = ascii("keep-alive");
  private static final byte[] EXPECT = ascii("expect");
  private static final byte[] UPGRADE = ascii("upgrade");
  private static final byte[] CODING = ascii("transfer-encoding");
  private static final byte[] WEB_SOCKET = ascii("sec-websocket");

  private static final int MAX_LENGTH_DIGITS = 5;

  /** The characters of a field's name. [RFC 9110, 5.6.2] */
  private static final boolean[] NAME = new boolean[128];

  static {
    for (char c = '!'; c <= '~'; c++) {
      NAME[c] = "\"(),/:;<=>?@[\\]{}".indexOf(c) < 0;
    }
  }

  private boolean check;
  private int hosts;
  private int lengths;
  private int length;

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns whether the request is for {@code /v1/check}. */
  boolean isCheck() {
    return check;
  }

  /** Returns the number of bytes of the body, after {@link #end}. */
  int length() {
    return length;
  }

  /**
   * Returns the end of a head that begins at {@code from}, or -1 if it is incomplete or unusual.
   */
  int end(byte[] in, int from, int to) {
    check = !begins(JSON_LINE, in, from, to);
    if (check && !begins(CHECK_LINE, in, from, to)) {
      return -1;
    }
    int line = from + (check ? CHECK_LINE : JSON_LINE).length;
    hosts = 0;
    lengths = 0;
    int most = Math.min(to, from + MAX_BYTES) - 1; // There is one more byte behind each CR.
    int at = line;
    for (int fields = 0; at < most && fields <= HttpFraming.MAX_FIELDS; fields++) {
      if (in[at] == '\r') {
        return in[at + 1] == '\n' && hosts == 1 && lengths == 1 ? at + 2 : -1;
      }
      int name = at;
      while (at < most && in[at] > 0 && NAME[in[at]]) {
        at++;
      }
      int colon = at;
      if (colon == name || in[colon] != ':') {
        return -1;
      }
      at++;
      while (at < most && ((in[at] >= ' ' && in[at] <= '~') || in[at] == '\t')) {
        at++;
      }
      if (at >= most || in[at] != '\r' || in[at + 1] != '\n' || !field(in, name, colon, at)) {
        return -1;
      }
      at += 2;
    }
    return -1;
  }

  private static boolean begins(byte[] line, byte[] in, int from, int to) {
    int end = from + line.length;
    return end <= to && Arrays.equals(line, 0, line.length, in, from, end);
  }

  /** Takes a field; returns false if it makes the request an unusual one. */
  private boolean field(byte[] in, int name, int colon, int end) {
    int value = colon + 1;
    while (value < end && (in[value] == ' ' || in[value] == '\t')) {
      value++;
    }
    int last = end;
    while (last > value && (in[last - 1] == ' ' || in[last - 1] == '\t')) {
      last--;
    }
    if (is(HOST, in, name, colon)) {
      hosts++;
      return value < last;
    }
    if (is(LENGTH, in, name, colon)) {
      lengths++;
      return length(in, value, last);
    }
    if (is(CONNECTION, in, name, colon)) {
      return is(KEEP_ALIVE, in, value, last);
    }
    if (is(TYPE, in, name, colon)) {
      return !check || is(JSON, in, value, last); // The other path takes any type.
    }
    if (is(ACCEPT, in, name, colon)) {
      return !check || is(ANY, in, value, last) || is(JSON, in, value, last);
    }
    return !is(EXPECT, in, name, colon)
        && !is(UPGRADE, in, name, colon)
        && !is(CODING, in, name, colon)
        && !is(WEB_SOCKET, in, name, Math.min(colon, name + WEB_SOCKET.length));
  }

  private boolean length(byte[] in, int from, int to) {
    length = 0;
    for (int i = from; i < to; i++) {
      if (in[i] < '0' || in[i] > '9') {
        return false;
      }
      length = 10 * length + in[i] - '0';
    }
    return to > from && to - from <= MAX_LENGTH_DIGITS;
  }

  /** Returns whether the bytes are a text whose small letters may be capital ones. */
  private static boolean is(byte[] text, byte[] in, int from, int to) {
    if (to - from != text.length) {
      return false;
    }
    for (int i = 0; i < text.length; i++) {
      byte c = in[from + i];
      if (c != text[i] && (c < 'A' || c > 'Z' || c + 32 != text[i])) {
        return false;
      }
    }
    return true;
  }
}
