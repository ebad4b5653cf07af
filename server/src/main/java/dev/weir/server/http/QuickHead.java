package dev.weir.server.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads the usual head of a request {@code POST /json}. It takes nothing that {@link HttpFraming},
 * {@link HttpHead} or the codec refuse, or that has them answer otherwise. [RFC 9112, sections 2 to
 * 6] Confined to one event loop.
 */
final class QuickHead {
  /** Larger heads are rare. */
  static final int MAX_BYTES = 4 << 10;

  private static final byte[] LINE = "POST /json HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII);

  private static final byte[] HOST = "host".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] LENGTH = "content-length".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CONNECTION = "connection".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] KEEP_ALIVE = "keep-alive".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] EXPECT = "expect".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] UPGRADE = "upgrade".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CODING = "transfer-encoding".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] WEB_SOCKET = "sec-websocket".getBytes(StandardCharsets.US_ASCII);

  private static final int MAX_LENGTH_DIGITS = 5;

  /** The characters of a field's name. [RFC 9110, 5.6.2] */
  private static final boolean[] NAME = new boolean[128];

  static {
    for (char c = '!'; c <= '~'; c++) {
      NAME[c] = "\"(),/:;<=>?@[\\]{}".indexOf(c) < 0;
    }
  }

  private int hosts;
  private int lengths;
  private int length;

  /** Returns how many bytes the body has, after {@link #end}. */
  int length() {
    return length;
  }

  /** Returns where a head ends that begins at {@code from}, or -1 if it is not whole or unusual. */
  int end(byte[] in, int from, int to) {
    int line = from + LINE.length;
    if (line > to || !Arrays.equals(LINE, 0, LINE.length, in, from, line)) {
      return -1;
    }
    hosts = 0;
    lengths = 0;
    int most = Math.min(to, from + MAX_BYTES) - 1; // Behind each CR there is one byte more.
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

  /** Returns whether bytes are a text; its small letters may be capital ones. */
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
