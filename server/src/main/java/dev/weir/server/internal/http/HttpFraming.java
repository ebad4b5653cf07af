package dev.weir.server.internal.http;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * The boundaries of the requests on one HTTP/1 connection. Requests that a server in front may read
 * differently are refused. [RFC 9112, sections 2 to 7] Confined to one event loop.
 */
final class HttpFraming {
  /*
   * How is HttpFraming designed, and why? The codec behind it interprets a request; this class only
   * ensures that there is one way to read it. A head is passed to the codec when it is complete, so
   * an unfinished head costs only its bytes. Only Host and the fields that determine the end of the
   * request are checked. An ambiguous request is refused, and nothing after it on the connection is
   * read.
   */

  /** The most fields of a head, several times as many as proxies send. */
  static final int MAX_FIELDS = 100;

  /** The longest field; the codec keeps room for the longest line of a connection. */
  private static final int MAX_FIELD_BYTES = 8 << 10;

  /** Approximate size of the objects of a header field. */
  private static final long FIELD_BYTES = 100;

  /** The longest trailers, which the server does not use. */
  private static final int MAX_TRAILER_BYTES = 1 << 10;

  private static final int MAX_TRAILERS = 10;

  /** The longest line before a chunk: a size and extensions, which the server does not use. */
  private static final int MAX_CHUNK_LINE_BYTES = 256;

  private static final int MAX_SIZE_DIGITS = 8;

  private enum State {
    HEAD,
    BODY,
    CHUNK_SIZE,
    CHUNK_DATA,
    CHUNK_END,
    TRAILER
  }

  private final HttpLimits limits;
  private State state = State.HEAD;

  /** The bytes of a head that were scanned so far, and the start of the current line. */
  private int scanned;

  private int lineStart;

  /** The bytes that are left of a body, or of a chunk. */
  private long left;

  private int lineBytes;
  private int digits;
  private int trailerBytes;
  private int trailers;
  private long openHeadBytes;
  private boolean extension;
  private boolean carriageReturn;

  HttpFraming(HttpLimits limits) {
    this.limits = limits;
  }

  /** Returns whether the next byte belongs to a head. */
  boolean inHead() {
    return state == State.HEAD;
  }

  /** Skips empty lines before a request, which are to be ignored. [RFC 9112, 2.2] */
  int afterEmptyLines(ByteBuf in, int from, int to) {
    int at = from;
    while (at < to && scanned == 0 && (in.getByte(at) == '\r' || in.getByte(at) == '\n')) {
      at++;
    }
    return at;
  }

  /**
   * Searches for the end of a head.
   *
   * @param from the beginning of the head: the same byte as in the last call, if the head had not
   *     ended
   * @return its end, or -1 if it does not end before {@code to}
   * @throws HttpProblem if it is too large
   */
  int headEnd(ByteBuf in, int from, int to) throws HttpProblem {
    if (from < to && !Character.isLetterOrDigit(in.getByte(from))) {
      throw noRequestLine(); // The bytes may be TLS, for example, in which a line may never end.
    }
    for (int at = from + scanned; at < to; ) {
      int newline = in.indexOf(at, to, (byte) '\n');
      if (newline < 0) {
        break;
      }
      int line = from + lineStart;
      boolean empty = newline == line || (newline == line + 1 && in.getByte(line) == '\r');
      checkSize(newline - from, newline - line);
      if (empty) {
        scanned = 0;
        lineStart = 0;
        return newline + 1;
      }
      at = newline + 1;
      lineStart = at - from;
    }
    scanned = to - from;
    checkSize(scanned, scanned - lineStart);
    return -1;
  }

  private void checkSize(int size, int line) throws HttpProblem {
    if (lineStart == 0 && line > limits.lineBytes()) {
      throw new HttpProblem(
          414,
          "URI too long",
          "request line: more bytes (expected: at most " + limits.lineBytes() + ")");
    }
    if (lineStart > 0 && line > MAX_FIELD_BYTES) {
      throw tooLarge("header field: more bytes (expected: at most " + MAX_FIELD_BYTES + ")");
    }
    if (size > limits.headBytes()) {
      throw tooLarge("head: more bytes (expected: at most " + limits.headBytes() + ")");
    }
  }

  static HttpProblem noRequestLine() {
    return HttpProblem.badRequest(
        "request line: no method, target and version (expected: as in GET / HTTP/1.1)");
  }

  static HttpProblem tooLarge(String detail) {
    return new HttpProblem(431, "Header fields too large", detail);
  }

  /**
   * Determines the end of the request of a head, and continues with its body.
   *
   * @throws HttpProblem if it can be read in more than one way
   */
  void head(ByteBuf in, int from, int to) throws HttpProblem {
    HttpHead head = new HttpHead();
    int end = lineEnd(in, from, to);
    head.requestLine(in.toString(from, end - from, StandardCharsets.ISO_8859_1));
    for (int at = next(in, end); at < to; at = next(in, end)) {
      end = lineEnd(in, at, to);
      if (end > at) {
        head.field(in, at, end);
      }
    }
    head.check();
    if (head.chunked()) {
      chunk();
    } else {
      left = head.length();
      state = left > 0 ? State.BODY : State.HEAD;
    }
    openHeadBytes = to - from + FIELD_BYTES * head.fields();
  }

  /** Returns the approximate size of the head of a request whose body is not complete; else 0. */
  long openHeadBytes() {
    return state == State.HEAD ? 0 : openHeadBytes;
  }

  /** Returns the end of a line, without its CR and LF. */
  private static int lineEnd(ByteBuf in, int from, int to) {
    int end = in.indexOf(from, to, (byte) '\n');
    return end > from && in.getByte(end - 1) == '\r' ? end - 1 : end;
  }

  private static int next(ByteBuf in, int lineEnd) {
    return in.getByte(lineEnd) == '\r' ? lineEnd + 2 : lineEnd + 1;
  }

  /**
   * Continues with a body.
   *
   * @return the end of the bytes that belong to it
   * @throws HttpProblem if its chunks are broken
   */
  int body(ByteBuf in, int from, int to) throws HttpProblem {
    int at = from;
    while (at < to && state != State.HEAD) {
      if (state == State.BODY || state == State.CHUNK_DATA) {
        long taken = Math.min(left, to - at);
        at += (int) taken;
        left -= taken;
        if (left == 0) {
          state = state == State.BODY ? State.HEAD : State.CHUNK_END;
        }
      } else {
        byte b = in.getByte(at++);
        switch (state) {
          case CHUNK_SIZE -> size(b);
          case CHUNK_END -> chunkEnd(b);
          default -> trailer(b);
        }
      }
    }
    return at;
  }

  private void chunk() {
    state = State.CHUNK_SIZE;
    left = 0;
    digits = 0;
    lineBytes = 0;
    extension = false;
    carriageReturn = false;
  }

  private void size(byte b) throws HttpProblem {
    if (++lineBytes > MAX_CHUNK_LINE_BYTES) {
      throw badChunk("a line of more than " + MAX_CHUNK_LINE_BYTES + " bytes");
    }
    int digit = Character.digit((char) (b & 0xFF), 16);
    if (carriageReturn) {
      if (b != '\n' || digits == 0) {
        throw badChunk("a size that does not end with CR LF");
      }
      carriageReturn = false;
      lineBytes = 0;
      trailerBytes = 0;
      trailers = 0;
      state = left == 0 ? State.TRAILER : State.CHUNK_DATA;
    } else if (b == '\r') {
      carriageReturn = true;
    } else if (b == '\n') {
      throw badChunk("a size that does not end with CR LF");
    } else if (extension) {
      return; // The trailers' content is not used.
    } else if (digits > 0 && (b == ';' || b == ' ' || b == '\t')) {
      extension = true;
    } else if (digit < 0 || b < 0 || ++digits > MAX_SIZE_DIGITS) {
      throw badChunk("no size of 1 to " + MAX_SIZE_DIGITS + " hexadecimal digits");
    } else {
      left = 16 * left + digit;
    }
  }

  private void chunkEnd(byte b) throws HttpProblem {
    if (b != (carriageReturn ? '\n' : '\r')) {
      throw badChunk("data that does not end with CR LF");
    }
    if (carriageReturn) {
      chunk();
    } else {
      carriageReturn = true;
    }
  }

  private void trailer(byte b) throws HttpProblem {
    if (++trailerBytes > MAX_TRAILER_BYTES || trailers > MAX_TRAILERS) {
      throw tooLarge(
          "trailers: more (expected: at most "
              + MAX_TRAILERS
              + " fields of "
              + MAX_TRAILER_BYTES
              + " bytes)");
    }
    if (b != '\n') {
      lineBytes += b == '\r' ? 0 : 1;
    } else if (lineBytes == 0) {
      state = State.HEAD;
    } else {
      lineBytes = 0;
      trailers++;
    }
  }

  private static HttpProblem badChunk(String found) {
    return HttpProblem.badRequest("chunk: " + found + " (expected: chunks as in RFC 9112, 7.1)");
  }
}
