package dev.weir.server.internal.http;

import dev.weir.server.internal.deciding.QuickRequest;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A reader of the usual JSON of a request in one of two dialects, that of {@code /json} or that of
 * {@code /v1/check}: one descriptor without permits or a limit of its own, and texts that are
 * printable ASCII without escapes. It must read the same request as {@link RlsJson} or {@code
 * CheckReader}; all other bodies are left to those. Confined to one event loop.
 */
final class QuickBody {
  /*
   * Why a reader of our own? Jackson's parser cannot be used again, and a new one for each request,
   * with its contexts, its tables and its detector of duplicates, allocates 1.3 KB: a quarter of
   * the memory of a whole request.
   */

  private static final byte[] DOMAIN = name("domain");
  private static final byte[] DESCRIPTORS = name("descriptors");
  private static final byte[] HITS = name("hitsAddend");
  private static final byte[] OLD_HITS = name("hits_addend");
  private static final byte[] PERMITS = name("permits");
  private static final byte[] DESCRIPTOR = name("descriptor");
  private static final byte[] ENTRIES = name("entries");
  private static final byte[] KEY = name("key");
  private static final byte[] VALUE = name("value");

  /**
   * The most digits, one fewer than of an unsigned 32-bit number: any number of so few digits is
   * one.
   */
  private static final int MAX_DIGITS = 9;

  private final QuickRequest asked = new QuickRequest();
  private byte[] in = {};
  private int at;
  private int to;
  private boolean check;

  // The text that was read last.
  private int textFrom;
  private int textTo;

  /** Returns the body that was read last. */
  QuickRequest request() {
    return asked;
  }

  /**
   * Reads a body; returns false if it is not a usual one.
   *
   * @param isCheck true if it is a body of {@code /v1/check}
   */
  boolean read(byte[] bytes, int from, int end, boolean isCheck) {
    in = bytes;
    check = isCheck;
    at = from;
    to = end;
    asked.clear();
    return readRequest() && next() < 0 && asked.count() > 0;
  }

  private boolean readRequest() {
    boolean domains = false;
    boolean descriptors = false;
    boolean hits = false;
    if (!take('{')) {
      return false;
    }
    do {
      if (!name()) {
        return false;
      }
      if (is(DOMAIN) && !domains) {
        domains = true;
        if (!text()) {
          return false;
        }
        asked.domain(in, textFrom, textTo);
      } else if (is(DESCRIPTORS) && !descriptors) {
        descriptors = true;
        if (!(take('[') && descriptor() && take(']'))) {
          return false;
        }
      } else if (check && is(DESCRIPTOR) && !descriptors) {
        descriptors = true;
        if (!shortForm()) {
          return false;
        }
      } else if ((check ? is(PERMITS) : is(HITS) || is(OLD_HITS)) && !hits) {
        hits = true;
        if (!number()) {
          return false;
        }
      } else {
        return false;
      }
    } while (take(','));
    return take('}');
  }

  private boolean descriptor() {
    if (!(take('{') && name() && is(ENTRIES) && take('['))) {
      return false;
    }
    do {
      if (!asked.begin() || !entry()) {
        return false;
      }
    } while (take(','));
    return take(']') && take('}');
  }

  /** Reads {@code {"key": "value", ...}}, in which no key occurs twice. */
  private boolean shortForm() {
    if (!take('{')) {
      return false;
    }
    do {
      if (!asked.begin() || !name()) {
        return false;
      }
      asked.key(in, textFrom, textTo);
      if (asked.hasKeyTwice() || !text()) {
        return false;
      }
      asked.value(in, textFrom, textTo);
      asked.end();
    } while (take(','));
    return take('}');
  }

  private boolean entry() {
    boolean keys = false;
    boolean values = false;
    if (!take('{')) {
      return false;
    }
    do {
      if (!name()) {
        return false;
      }
      if (is(KEY) && !keys) {
        keys = true;
        if (!text()) {
          return false;
        }
        asked.key(in, textFrom, textTo);
      } else if (is(VALUE) && !values) {
        values = true;
        if (!text()) {
          return false;
        }
        asked.value(in, textFrom, textTo);
      } else {
        return false;
      }
    } while (take(','));
    asked.end();
    return keys && values && take('}');
  }

  /** Reads a name and the colon behind it. */
  private boolean name() {
    return text() && take(':');
  }

  /** Reads a text. */
  private boolean text() {
    if (!take('"')) {
      return false;
    }
    textFrom = at;
    while (at < to && in[at] >= ' ' && in[at] <= '~' && in[at] != '"' && in[at] != '\\') {
      at++;
    }
    textTo = at;
    return at < to && in[at++] == '"';
  }

  /** Reads the number of permits; 0 means 1 in the dialect of {@code /json}. */
  private boolean number() {
    int first = next();
    int from = at;
    long number = 0;
    while (at < to && in[at] >= '0' && in[at] <= '9') {
      number = 10 * number + in[at++] - '0';
    }
    int digits = at - from;
    asked.permits(check ? number : Math.max(1, number));
    return digits > 0 && digits <= MAX_DIGITS && (digits == 1 || first != '0');
  }

  private boolean is(byte[] name) {
    return Arrays.equals(name, 0, name.length, in, textFrom, textTo);
  }

  /** Takes that character, with the blanks before it; else takes only the blanks. */
  private boolean take(char wanted) {
    boolean is = next() == wanted;
    at += is ? 1 : 0;
    return is;
  }

  /** Returns the next byte that is not a blank, without taking it; -1 at the end. */
  private int next() {
    while (at < to && (in[at] == ' ' || in[at] == '\n' || in[at] == '\r' || in[at] == '\t')) {
      at++;
    }
    return at < to ? in[at] & 0xff : -1;
  }

  private static byte[] name(String name) {
    return name.getBytes(StandardCharsets.US_ASCII);
  }
}
