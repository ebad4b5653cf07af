package dev.weir.server.internal.grpc;

import dev.weir.server.internal.deciding.QuickRequest;

/**
 * A reader of the usual protobuf of a rate limit request: one descriptor without permits or a limit
 * of its own, each field at most once, and texts of ASCII. It must read the same request as the
 * generated classes; all other messages are left to them. Confined to one event loop.
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

  /** The most bytes of a number: with seven bits in each, it is an int of at least 0. */
  private static final int MAX_NUMBER_BYTES = 4;

  private final QuickRequest asked = new QuickRequest();
  private byte[] in = {};
  private int at;

  /** Returns the message that was read last. */
  QuickRequest request() {
    return asked;
  }

  /** Reads a message; returns false if it is not a usual one. */
  boolean read(byte[] bytes, int from, int end) {
    in = bytes;
    at = from;
    asked.clear();
    return request(end) && asked.count() > 0;
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
        asked.domain(in, at, at + number);
        at += number;
      } else if (field == DESCRIPTORS && !descriptors && number >= 0 && number <= end - at) {
        descriptors = true;
        if (!descriptor(at + number)) {
          return false;
        }
      } else if (field == HITS && !hits && number >= 0) {
        hits = true;
        asked.permits(Math.max(1, number)); // 0 means 1.
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
          || !asked.begin()
          || !entry(at + length)) {
        return false;
      }
    }
    return true;
  }

  private boolean entry(int end) {
    boolean keys = false;
    boolean values = false;
    while (at < end) {
      int field = in[at++];
      int length = number(end);
      if (field == KEY && !keys && text(length, end)) {
        keys = true;
        asked.key(in, at, at + length);
        at += length;
      } else if (field == VALUE && !values && text(length, end)) {
        values = true;
        asked.value(in, at, at + length);
        at += length;
      } else {
        return false;
      }
    }
    asked.end();
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
}
