package dev.weir.traffic.internal.read;

import dev.weir.identity.AddressKey;
import java.nio.charset.StandardCharsets;

/**
 * A search for the beginning of a record behind text that others have written into its line:
 * syslog, a container's runtime, or a logger.
 */
public final class LinePrefix {
  /*
   * How is the beginning found, and why? The headers of syslog (RFC 3164, RFC 5424, and with the
   * time of RFC 3339), of container runtimes (CRI) and of Compose have a grammar, by which they are
   * skipped. A logger's pattern may be anything. Behind it, a record that begins with the client's
   * address begins at the first address that is followed by ` - ` or a time in brackets, and JSON
   * begins at its brace. The search ends at a quote, behind which a client's own text may stand.
   * The text before the record is the writer's, so no client can move the beginning.
   */

  /** The most words before the beginning of a record. */
  private static final int MAX_WORDS = 32;

  /** The length of the longest text of an address with its port, in brackets, with a zone. */
  private static final int MAX_ADDRESS = 128;

  private LinePrefix() {}

  /** Returns the place where the record begins: {@code from} if nothing is before it. */
  public static int end(byte[] data, int from, int to) {
    int at = header(data, compose(data, from, to), to);
    int record = record(data, at, to);
    boolean behindHost = at > from && record == word(data, at, to) + 1 && isHost(data, at, record);
    return record < 0 || behindHost ? at : record;
  }

  /** Returns whether a word may be a virtual host, which is a part of the record. */
  private static boolean isHost(byte[] data, int from, int next) {
    boolean mark = false;
    for (int at = from; at < next - 1; at++) {
      mark |= data[at] == '.' || data[at] == ':';
    }
    return mark && data[next - 2] != ':';
  }

  /**
   * Returns the place where the line's own time is, or may be: behind the priority and version of
   * syslog.
   */
  static int stamp(byte[] data, int from, int to) {
    int at = from;
    if (at < to && data[at] == '<') {
      at++;
      while (at < to && digit(data[at])) {
        at++;
      }
      at = at < to && data[at] == '>' ? at + 1 : from;
    }
    boolean version = at + 1 < to && data[at] == '1' && data[at + 1] == ' ';
    return version ? at + 2 : at;
  }

  /** Skips {@code name | } of Compose. */
  private static int compose(byte[] data, int from, int to) {
    int at = word(data, from, to);
    while (at < to && data[at] == ' ') {
      at++;
    }
    return at > from && at + 1 < to && data[at] == '|' && data[at + 1] == ' ' ? at + 2 : from;
  }

  /** Skips the header of syslog or of a container's runtime. */
  private static int header(byte[] data, int from, int to) {
    int at = stamp(data, from, to);
    boolean version = at > from && data[at - 1] == ' ';
    int behind = behindTime(data, at, to);
    if (behind < 0) {
      return from;
    }
    if (version) {
      return structured(data, behind, to);
    }
    int second = word(data, behind, to) + 1;
    boolean stream =
        is(data, behind, second - 1, "stdout") || is(data, behind, second - 1, "stderr");
    if (stream && second + 1 < to && data[second + 1] == ' ') {
      return second + 2;
    }
    // It is HOST TAG: or TAG: alone.
    int next = behind;
    for (int i = 0; i < 2; i++) {
      int end = word(data, next, to);
      if (end == next || end >= to) {
        return from;
      }
      if (data[end - 1] == ':') {
        return spaces(data, end, to);
      }
      next = end + 1;
    }
    return from;
  }

  /** Returns the place behind a time in the form of RFC 3339 or of RFC 3164 and a space; or -1. */
  private static int behindTime(byte[] data, int from, int to) {
    int end = word(data, from, to);
    if (end - from >= 19 && digit(data[from]) && data[from + 4] == '-' && data[from + 10] == 'T') {
      return end < to ? end + 1 : -1;
    }
    // The form is Mmm dd HH:MM:SS, with a space for the first digit of the day.
    boolean bsd =
        to - from > 16
            && data[from + 3] == ' '
            && data[from + 6] == ' '
            && digit(data[from + 5])
            && data[from + 9] == ':'
            && data[from + 12] == ':'
            && data[from + 15] == ' '
            && letter(data[from])
            && letter(data[from + 1])
            && letter(data[from + 2]);
    return bsd ? from + 16 : -1;
  }

  /** Skips {@code HOST APP PROCID MSGID SD} of RFC 5424. */
  private static int structured(byte[] data, int from, int to) {
    int at = from;
    for (int i = 0; i < 4; i++) {
      at = word(data, at, to) + 1;
    }
    boolean quoted = false;
    int depth = 0;
    while (at < to && (depth > 0 || data[at] != ' ')) {
      byte b = data[at];
      quoted ^= b == '"' && data[at - 1] != '\\';
      depth += quoted ? 0 : b == '[' ? 1 : b == ']' ? -1 : 0;
      at++;
    }
    at = Math.min(at + 1, to);
    boolean mark =
        at + 3 <= to
            && data[at] == (byte) 0xef
            && data[at + 1] == (byte) 0xbb
            && data[at + 2] == (byte) 0xbf;
    return mark ? at + 3 : at;
  }

  /** Returns the place of a record that starts with the client's address or is JSON; or -1. */
  private static int record(byte[] data, int from, int to) {
    int list = -1;
    int at = from;
    for (int words = 0; at < to && words < MAX_WORDS; words++) {
      if (data[at] == '{') {
        return at;
      }
      int end = word(data, at, to);
      if (data[at] == '"') {
        return -1;
      }
      boolean more = end > at && data[end - 1] == ',';
      if (isAddress(data, at, more ? end - 1 : end)) {
        if (more) {
          list = list < 0 ? at : list;
        } else if (isFollowed(data, end, to)) {
          return list < 0 ? at : list;
        } else {
          list = -1;
        }
      } else {
        list = -1;
      }
      at = end + 1;
    }
    return -1;
  }

  /** Returns whether the words behind an address are those that follow a client's address. */
  private static boolean isFollowed(byte[] data, int at, int to) {
    return at + 2 < to
        && ((data[at + 1] == '-' && data[at + 2] == ' ')
            || (data[at + 1] == '[' && digit(data[at + 2])));
  }

  /** Returns the place of the first word that is an address; or {@code to}. */
  static int firstAddress(byte[] data, int from, int to) {
    int at = from;
    while (at < to) {
      int end = word(data, at, to);
      boolean more = end > at && data[end - 1] == ',';
      if (isAddress(data, at, more ? end - 1 : end)) {
        return at;
      }
      at = end + 1;
    }
    return to;
  }

  /** Returns whether the part is an address, with or without a port. */
  private static boolean isAddress(byte[] data, int from, int to) {
    if (to - from < 2 || to - from > MAX_ADDRESS) {
      return false;
    }
    boolean mark = false;
    for (int at = from; at < to; at++) {
      byte b = data[at];
      mark |= b == '.' || b == ':';
      if (b == '%') {
        break; // A zone follows.
      }
      if (Character.digit(b, 16) < 0 && ".:[]".indexOf(b) < 0) {
        return false;
      }
    }
    return mark
        && AddressKey.WHOLE.of(new String(data, from, to - from, StandardCharsets.ISO_8859_1))
            != null;
  }

  private static boolean is(byte[] data, int from, int to, String word) {
    if (to - from != word.length()) {
      return false;
    }
    for (int i = 0; i < word.length(); i++) {
      if (data[from + i] != word.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private static int spaces(byte[] data, int from, int to) {
    int at = from;
    while (at < to && data[at] == ' ') {
      at++;
    }
    return at;
  }

  /** Returns the place where the word ends. */
  private static int word(byte[] data, int from, int to) {
    int at = from;
    while (at < to && data[at] != ' ') {
      at++;
    }
    return at;
  }

  private static boolean digit(byte b) {
    return b >= '0' && b <= '9';
  }

  private static boolean letter(byte b) {
    return (b | 32) >= 'a' && (b | 32) <= 'z';
  }
}
