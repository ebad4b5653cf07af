package dev.weir.server.internal.deciding;

import dev.weir.engine.RequestBatch;
import dev.weir.rules.Request;
import java.nio.charset.StandardCharsets;

/**
 * A request of one descriptor, as a reader of bytes has found it; the next one takes its place.
 * Texts are ASCII. Confined to one event loop.
 */
public final class QuickRequest {
  /** The most entries; requests with more take the general path. */
  private static final int MAX_ENTRIES = 16;

  private final RecentTexts words = new RecentTexts();
  private final String[] keysAndValues = new String[2 * MAX_ENTRIES];
  private String domain = "";
  private long permits = 1;
  private int count;

  /**
   * Clears the last request: the next one starts without a domain and entries, and with 1 permit.
   */
  public void clear() {
    domain = "";
    permits = 1;
    count = 0;
  }

  /** Sets the domain: the text from {@code from} on and before {@code to}. */
  public void domain(byte[] in, int from, int to) {
    domain = word(in, from, to);
  }

  /** Sets the permits of the descriptor. */
  public void permits(long number) {
    permits = number;
  }

  /** Begins an entry without a key and with an empty value; returns false if there is no room. */
  public boolean begin() {
    if (count == keysAndValues.length) {
      return false;
    }
    keysAndValues[count + 1] = "";
    return true;
  }

  /** Sets the key of the entry that has begun. */
  public void key(byte[] in, int from, int to) {
    keysAndValues[count] = word(in, from, to);
  }

  /** Returns whether an earlier entry has the key of the one that has begun. */
  public boolean hasKeyTwice() {
    for (int i = 0; i < count; i += 2) {
      if (keysAndValues[i].equals(keysAndValues[count])) {
        return true;
      }
    }
    return false;
  }

  /** Sets the value of the entry that has begun. */
  public void value(byte[] in, int from, int to) {
    keysAndValues[count + 1] = ascii(in, from, to);
  }

  /** Ends the entry that has begun, which has a key. */
  public void end() {
    count += 2;
  }

  public String domain() {
    return domain;
  }

  public long permits() {
    return permits;
  }

  /** Returns the key of each entry followed by its value, {@link #count} texts. */
  public String[] keysAndValues() {
    return keysAndValues;
  }

  public int count() {
    return count;
  }

  /** Returns the request as an object of its own. */
  public Request request() {
    return RequestBatch.request(domain, keysAndValues, count, permits);
  }

  /** Returns a text, most often one that was read lately. */
  private String word(byte[] in, int from, int to) {
    String known = words.find(in, from, to);
    if (known != null) {
      return known;
    }
    String text = ascii(in, from, to);
    words.keep(in, from, to, text);
    return text;
  }

  private static String ascii(byte[] in, int from, int to) {
    return new String(in, from, to - from, StandardCharsets.ISO_8859_1);
  }
}
