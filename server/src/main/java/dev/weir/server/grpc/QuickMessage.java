package dev.weir.server.grpc;

import dev.weir.server.door.RecentTexts;
import java.nio.charset.StandardCharsets;

/**
 * Reads the usual protobuf of a rate limit request: one descriptor without permits or a limit of
 * its own, each field at most once, and texts of ASCII. What is read here must be what the
 * generated classes read; all else is left to them. Confined to one event loop.
 */
final class QuickMessage {
  // Fields of RateLimitRequest, RateLimitDescriptor and its Entry, each with its wire type: 2 for
  // lengths, 0 for numbers.
  private static final int DOMAIN = 1 << 3 | 2;
  private static final int DESCRIPTORS = 2 << 3 | 2;
  private static final int HITS = 3 << 3;
  private static final int ENTRIES = 1 << 3 | 2;
  private static final int KEY = 1 << 3 | 2;
  private static final int VALUE = 2 << 3 | 2;

  /** So that any number of so many bytes, with seven bits in each, is an int of at least 0. */
  private static final int MAX_NUMBER_BYTES = 4;

  private static final int MAX_ENTRIES = 16;

  private final RecentTexts words = new RecentTexts();
  private final String[] keysAndValues = new String[2 * MAX_ENTRIES];
  private byte[] in = {};
  private int at;

  private String domain = "";
  private long permits;
  private int count;

  String domain() {
    return domain;
  }

  /** Returns the permits that each descriptor asks for. */
  long permits() {
    return permits;
  }

  /** Returns the key of each entry with its value behind it, {@link #count} texts. */
  String[] keysAndValues() {
    return keysAndValues;
  }

  int count() {
    return count;
  }

  /** Reads a message; returns false if it is not a usual one. */
  boolean read(byte[] bytes, int from, int end) {
    in = bytes;
    at = from;
    domain = "";
    permits = 1;
    count = 0;
    return request(end) && count > 0;
  }

  private boolean request(int end) {
    boolean domains = false;
    boolean descriptors = false;
    boolean hits = false;
    while (at < end) {
      int field = in[at++];
      int number = number(end);
      if (field == DOMAIN && !domains && text(number, end)) {
        domains = true;
        domain = word(number);
      } else if (field == DESCRIPTORS && !descriptors && number >= 0 && number <= end - at) {
        descriptors = true;
        if (!descriptor(at + number)) {
          return false;
        }
      } else if (field == HITS && !hits && number >= 0) {
        hits = true;
        permits = Math.max(1, number); // 0 means 1.
      } else {
        return false;
      }
    }
    return true;
  }

  private boolean descriptor(int end) {
    while (at < end) {
      int field = in[at++];
      int length = number(end);
      if (field != ENTRIES
          || length < 0
          || length > end - at
          || count == keysAndValues.length
          || !entry(at + length)) {
        return false;
      }
    }
    return true;
  }

  private boolean entry(int end) {
    boolean keys = false;
    boolean values = false;
    keysAndValues[count + 1] = "";
    while (at < end) {
      int field = in[at++];
      int length = number(end);
      if (field == KEY && !keys && text(length, end)) {
        keys = true;
        keysAndValues[count] = word(length);
      } else if (field == VALUE && !values && text(length, end)) {
        values = true;
        keysAndValues[count + 1] = ascii(length);
        at += length;
      } else {
        return false;
      }
    }
    count += 2;
    return keys;
  }

  /** Reads a number; returns -1 if there is none, or one of more bytes than usual. */
  private int number(int end) {
    int number = 0;
    for (int i = 0; i < MAX_NUMBER_BYTES && at < end; i++) {
      int b = in[at++];
      number |= (b & 0x7f) << (7 * i);
      if (b >= 0) {
        return number;
      }
    }
    return -1;
  }

  /** Returns whether a text of that length follows, and is ASCII. */
  private boolean text(int length, int end) {
    if (length < 0 || length > end - at) {
      return false;
    }
    for (int i = at; i < at + length; i++) {
      if (in[i] < 0) {
        return false;
      }
    }
    return true;
  }

  private String ascii(int length) {
    return new String(in, at, length, StandardCharsets.ISO_8859_1);
  }

  /** Takes a text, which is probably one of those read lately. */
  private String word(int length) {
    int from = at;
    at += length;
    String known = words.find(in, from, at);
    if (known != null) {
      return known;
    }
    String text = new String(in, from, length, StandardCharsets.ISO_8859_1);
    words.keep(in, from, at, text);
    return text;
  }
}
