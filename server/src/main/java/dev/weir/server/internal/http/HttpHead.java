package dev.weir.server.internal.http;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * The head of an HTTP/1 request, which determines the request's end. Heads that can be read in more
 * than one way are refused. [RFC 9112, 3.2, 5.2, 6.1 to 6.3]
 */
final class HttpHead {
  private boolean old;
  private boolean chunked;
  private long length;
  private int fields;
  private int hosts;
  private int lengths;
  private String coding = "";

  /** Takes the first line. */
  void requestLine(String line) throws HttpProblem {
    int version = line.lastIndexOf(' ') + 1;
    if (version < 2 || !line.startsWith("HTTP/", version)) {
      throw HttpFraming.noRequestLine();
    }
    old = line.endsWith("HTTP/1.0");
    if (!old && !line.endsWith("HTTP/1.1")) {
      throw new HttpProblem(
          505,
          "HTTP version not supported",
          "version: not supported (expected: HTTP/1.1 or HTTP/1.0)");
    }
  }

  /** Takes a field. */
  void field(ByteBuf in, int from, int end) throws HttpProblem {
    if (++fields > HttpFraming.MAX_FIELDS) {
      throw HttpFraming.tooLarge(
          "header fields: too many (expected: at most " + HttpFraming.MAX_FIELDS + ")");
    }
    byte first = in.getByte(from);
    if (first == ' ' || first == '\t') {
      throw HttpProblem.badRequest(
          "header field: a line that continues another (expected: one line a field)");
    }
    int colon = in.indexOf(from, end, (byte) ':');
    switch (colon - from) {
      case 4 -> hosts += is(in, from, colon, "host") ? 1 : 0;
      case 14 -> {
        if (is(in, from, colon, "content-length")) {
          lengths++;
          length = length(value(in, colon, end));
        }
      }
      case 18 -> {
        // This field is from an early draft of WebSockets, whose request has an undeclared body.
        if (is(in, from, colon - 1, "sec-websocket-key")) {
          throw HttpProblem.badRequest("Sec-WebSocket-Key: one with a number (expected: none)");
        }
      }
      case 17 -> {
        if (is(in, from, colon, "transfer-encoding")) {
          coding += (coding.isEmpty() ? "" : ",") + value(in, colon, end);
          chunked = true;
        }
      }
      default -> {}
    }
  }

  private static boolean is(ByteBuf in, int from, int to, String lowerCase) {
    for (int i = from; i < to; i++) {
      int c = in.getByte(i);
      if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != lowerCase.charAt(i - from)) {
        return false;
      }
    }
    return true;
  }

  private static String value(ByteBuf in, int colon, int end) {
    return in.toString(colon + 1, end - colon - 1, StandardCharsets.ISO_8859_1).strip();
  }

  private static long length(String value) throws HttpProblem {
    boolean good = !value.isEmpty() && value.length() <= 18;
    for (int i = 0; good && i < value.length(); i++) {
      good = value.charAt(i) >= '0' && value.charAt(i) <= '9';
    }
    if (!good) {
      throw HttpProblem.badRequest("Content-Length: no number of bytes (expected: digits)");
    }
    return Long.parseLong(value);
  }

  /** Checks the fields together. */
  void check() throws HttpProblem {
    if (chunked) {
      checkCoding();
    }
    if (lengths > 1) {
      throw HttpProblem.badRequest("Content-Length: " + lengths + " fields (expected: one)");
    }
    if (hosts > 1 || (hosts == 0 && !old)) {
      throw HttpProblem.badRequest("Host: " + hosts + " fields (expected: one)");
    }
  }

  private void checkCoding() throws HttpProblem {
    for (String each : coding.toLowerCase(Locale.ROOT).split(",", -1)) {
      String name = each.strip();
      if (!name.equals("chunked") && !name.isEmpty()) {
        throw new HttpProblem(
            501, "Not implemented", "Transfer-Encoding: not supported (expected: chunked alone)");
      }
    }
    if (!coding.equalsIgnoreCase("chunked") || old || lengths > 0) {
      throw HttpProblem.badRequest(
          "Transfer-Encoding: not chunked once, or beside Content-Length, or before HTTP/1.1"
              + " (expected: chunked alone)");
    }
  }

  /** Returns whether the body comes in chunks. */
  boolean chunked() {
    return chunked;
  }

  /** Returns the number of bytes of the body, if it does not come in chunks. */
  long length() {
    return length;
  }

  /** Returns the number of fields. */
  int fields() {
    return fields;
  }
}
