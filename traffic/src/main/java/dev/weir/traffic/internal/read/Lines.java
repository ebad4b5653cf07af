package dev.weir.traffic.internal.read;

import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.ClosedByInterruptException;
import java.util.Arrays;

/**
 * A splitter of an input into lines, which counts them and does not copy them.
 *
 * <p>A record is one line, or several where {@link #extend} has joined them. Lines end at a line
 * feed, with or without a carriage return before it. Memory is bounded: a longer line is skipped.
 */
public final class Lines {
  /**
   * The most bytes of a record: far beyond any access log's, and small enough to hold a few of
   * them.
   */
  static final int MAX_BYTES = 1 << 20;

  /** The number of bytes that are read to recognize the format and the columns. */
  static final int HEAD_BYTES = 1 << 16;

  private static final int READ_BYTES = 1 << 18;

  private final InputStream in;
  private byte[] buffer = new byte[READ_BYTES];
  private int filled;
  private boolean ended;
  private boolean cutShort;
  private boolean broken;
  private boolean stopped;

  /**
   * The start of the record; {@code end} is the end of its text, {@code next} the start of the next
   * one.
   */
  private int start;

  private int end;
  private int next;

  /** The end of the record's first line; {@code firstNext} is the start of the line after it. */
  private int firstEnd;

  private int firstNext;

  /** The number of the record's first line; {@code lines} is the number of its lines. */
  private long line;

  private long lines = 1;

  private boolean tooLong;

  /** True if other text may stand before the record in its line. */
  private boolean prefixed;

  /** The length of that text in this line. */
  private int prefix;

  private Lines(InputStream in) {
    this.in = in;
  }

  /** Returns the lines of an input, after reading its beginning. */
  public static Lines of(InputStream in) throws IOException {
    Lines lines = new Lines(in);
    while (lines.filled < HEAD_BYTES && lines.fill()) {
      // A pipe returns little at a time.
    }
    byte[] data = lines.buffer;
    boolean mark =
        lines.filled >= 3
            && data[0] == (byte) 0xef
            && data[1] == (byte) 0xbb
            && data[2] == (byte) 0xbf;
    lines.next = mark ? 3 : 0;
    return lines;
  }

  /** Skips the text that others have written before the record in each line. */
  public Lines behindPrefixes() {
    prefixed = true;
    return this;
  }

  /**
   * Returns the input's beginning without its byte order mark, up to a line end: long enough to
   * recognize the format and the columns. To be called before the first {@link #next}.
   */
  public byte[] head() {
    int to = filled;
    if (!ended) {
      int cut = filled;
      while (cut > next && buffer[cut - 1] != '\n') {
        cut--;
      }
      to = cut > next ? cut : filled;
    }
    return Arrays.copyOfRange(buffer, next, to);
  }

  /**
   * Moves to the next line.
   *
   * @return false at the end of the input
   * @throws UnreadableException if the line is too long, or if the input breaks off in it
   */
  boolean next() throws IOException, UnreadableException {
    start = next;
    line += lines;
    lines = 1;
    tooLong = false;
    int length = newline(0);
    if (length < 0) {
      if (stopped) {
        return false; // Half a line does not count.
      }
      if (cutShort) {
        cutShort = false;
        next = filled;
        end = filled;
        throw new UnreadableException("the compressed input ends early or is damaged from here on");
      }
      if (start == filled && !tooLong) {
        return false;
      }
    }
    mark(length);
    firstEnd = end;
    firstNext = next;
    if (tooLong) {
      throw new UnreadableException("longer than " + MAX_BYTES + " bytes");
    }
    prefix = prefixed ? recordFrom(buffer, start, end) - start : 0;
    return true;
  }

  /** Returns the place where the record of a line begins, in this input or in its beginning. */
  int recordFrom(byte[] data, int from, int to) {
    return prefixed ? LinePrefix.end(data, from, to) : from;
  }

  /**
   * Joins the next line to the record, with the line end between them.
   *
   * @return false, without any change, if there is none or the record would become too long
   */
  boolean extend() throws IOException {
    int length = newline(next - start);
    if (tooLong || (length < 0 && (cutShort || stopped || next == filled))) {
      tooLong = false;
      return false;
    }
    lines++;
    mark(length);
    return true;
  }

  /** Makes the record its first line again. The lines that were joined to it follow it. */
  void shrink() {
    end = firstEnd;
    next = firstNext;
    lines = 1;
  }

  /**
   * Sets the record's end: {@code length} is the place of its last line feed, negative for none.
   */
  private void mark(int length) {
    end = length < 0 ? filled : start + length;
    next = length < 0 ? filled : end + 1;
    if (end > start && buffer[end - 1] == '\r') {
      end--;
    }
  }

  /**
   * Returns the place of the next line feed from {@code offset} on, counted from the record's
   * start; or -1 if the input ends first. A first line that is too long is skipped up to its end.
   */
  private int newline(int offset) throws IOException {
    int looked = offset;
    while (true) {
      byte[] bytes = buffer;
      for (int i = start + looked; i < filled; i++) {
        if (bytes[i] == '\n') {
          if (i - start > MAX_BYTES) {
            tooLong = true;
          }
          return i - start;
        }
      }
      looked = filled - start;
      if (looked > MAX_BYTES) {
        tooLong = true;
        if (offset > 0) {
          return -1;
        }
        start = filled;
        looked = 0;
      }
      if (!fill()) {
        return -1;
      }
    }
  }

  /** Reads more bytes; the record moves to the buffer's beginning. Returns false at the end. */
  private boolean fill() throws IOException {
    if (ended) {
      return false;
    }
    if (start > 0) {
      System.arraycopy(buffer, start, buffer, 0, filled - start);
      filled -= start;
      end -= start;
      next -= start;
      firstEnd -= start;
      firstNext -= start;
      start = 0;
    }
    if (filled == buffer.length) {
      buffer = Arrays.copyOf(buffer, 2 * filled);
    }
    int read;
    try {
      read = in.read(buffer, filled, buffer.length - filled);
    } catch (Input.CutShort e) {
      cutShort = true;
      broken = true;
      read = -1;
    } catch (ClosedByInterruptException e) {
      stopped = true;
      read = -1;
    }
    ended = read < 0;
    filled += Math.max(0, read);
    return !ended;
  }

  /** Returns whether compressed data broke off or was damaged; nothing behind that is read. */
  boolean broken() {
    return broken;
  }

  /** Returns whether an interrupt ended the input. */
  boolean stopped() {
    return stopped;
  }

  /** Returns the buffer with the record. It changes with {@link #next} and {@link #extend}. */
  byte[] data() {
    return buffer;
  }

  /** Returns the place where the record starts in the buffer. */
  int from() {
    return start + prefix;
  }

  /** Returns the place where the line starts in the buffer, including text before the record. */
  int lineFrom() {
    return start;
  }

  int to() {
    return end;
  }

  boolean blank() {
    for (int i = from(); i < end; i++) {
      if (buffer[i] != ' ') {
        return false;
      }
    }
    return true;
  }

  /** Returns the number of the record's first line, counted from 1. */
  long line() {
    return line;
  }

  /** Returns the number of the record's last line. */
  long lastLine() {
    return line + lines - 1;
  }
}
