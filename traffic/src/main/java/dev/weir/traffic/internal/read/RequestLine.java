package dev.weir.traffic.internal.read;

/**
 * The parts of {@code METHOD target [protocol]}. A line that is not of this form (a port scan, a
 * TLS handshake on the plain port, a client that sent nothing) has no parts. Not safe for use by
 * several threads.
 */
final class RequestLine {
  /** The path of a URL that has a host and nothing behind it. */
  static final byte[] ROOT = {'/'};

  private int methodFrom;
  private int methodTo;
  private int targetTo;
  private int protocolFrom;
  private int end;

  /** Splits a request line. Returns whether it has parts. */
  boolean split(byte[] data, int from, int to) {
    int at = from;
    while (at < to && data[at] != ' ') {
      at++;
    }
    methodFrom = from;
    methodTo = at;
    protocolFrom = -1;
    targetTo = to;
    end = to;
    if (at == from || at + 1 >= to) {
      return false;
    }
    int space = to - 1;
    while (data[space] != ' ') {
      space--;
    }
    if (startsWithHttp(data, space + 1, to)) {
      if (space == at) {
        return false;
      }
      targetTo = space;
      protocolFrom = space + 1;
    }
    return true;
  }

  int methodFrom() {
    return methodFrom;
  }

  int methodTo() {
    return methodTo;
  }

  int targetFrom() {
    return Math.min(methodTo + 1, targetTo);
  }

  int targetTo() {
    return targetTo;
  }

  /** Returns the place where the protocol starts, up to {@link #end}; -1 if there is none. */
  int protocolFrom() {
    return protocolFrom;
  }

  int end() {
    return end;
  }

  /** Returns the place of the first question mark, or the end. */
  static int question(byte[] data, int from, int to) {
    int at = from;
    while (at < to && data[at] != '?') {
      at++;
    }
    return at;
  }

  /**
   * Returns the place of the path of {@code scheme://authority/path}, or of a target without a
   * scheme.
   */
  static int path(byte[] data, int from, int to) {
    int at = from;
    while (at < to && isSchemeLetter(data[at])) {
      at++;
    }
    if (at == from
        || at + 2 >= to
        || data[at] != ':'
        || data[at + 1] != '/'
        || data[at + 2] != '/') {
      return from;
    }
    at += 3;
    while (at < to && data[at] != '/' && data[at] != '?') {
      at++;
    }
    return at;
  }

  /** Returns the place of the host of {@code scheme://user@host:port/path}. */
  static int host(byte[] data, int from, int path) {
    int start = path;
    while (start > from && data[start - 1] != '/' && data[start - 1] != '@') {
      start--;
    }
    return start;
  }

  /** Returns the place where the host ends: before its port. */
  static int hostEnd(byte[] data, int host, int path) {
    int at = path;
    while (at > host && data[at - 1] >= '0' && data[at - 1] <= '9') {
      at--;
    }
    return at > host && data[at - 1] == ':' ? at - 1 : path;
  }

  private static boolean isSchemeLetter(byte b) {
    return ((b | 32) >= 'a' && (b | 32) <= 'z') || (b >= '0' && b <= '9');
  }

  private static boolean startsWithHttp(byte[] data, int start, int end) {
    return end - start >= 5
        && data[start] == 'H'
        && data[start + 1] == 'T'
        && data[start + 2] == 'T'
        && data[start + 3] == 'P'
        && data[start + 4] == '/';
  }
}
