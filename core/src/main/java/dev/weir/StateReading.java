package dev.weir;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The progress of the reading of a {@link StateFolder}, which any thread may look at and cancel.
 */
final class StateReading {
  private static final long MEGABYTE = 1 << 20;

  private final AtomicLong expected = new AtomicLong();
  private final AtomicLong read = new AtomicLong();
  private volatile boolean cancelled;

  /** The end of a reading that was cancelled; the files are as they were. */
  static final class Cancellation extends InterruptedIOException {
    private static final long serialVersionUID = 1;

    Cancellation() {
      super("the reading was cancelled");
    }
  }

  /** Adds bytes that are to be read. */
  void expect(long bytes) {
    expected.addAndGet(bytes);
  }

  /** Cancels the reading, which ends at its next step. */
  void cancel() {
    cancelled = true;
  }

  /**
   * Adds bytes that were read.
   *
   * @throws Cancellation if the reading is to end
   */
  void advance(long bytes) throws Cancellation {
    if (cancelled) {
      throw new Cancellation();
    }
    read.addAndGet(bytes);
  }

  /** Returns a stream whose bytes are added. */
  InputStream counted(InputStream in) {
    return new FilterInputStream(in) {
      @Override
      public int read() throws IOException {
        int next = super.read();
        advance(next < 0 ? 0 : 1);
        return next;
      }

      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        int more = super.read(into, offset, length);
        advance(Math.max(0, more));
        return more;
      }
    };
  }

  /** Returns a line for the people who wait. */
  String line(long elapsedNanos) {
    long all = expected.get();
    return "state: reading the counts: %d of %d MB after %d s"
        .formatted(
            Math.min(read.get(), all) / MEGABYTE,
            all / MEGABYTE,
            TimeUnit.NANOSECONDS.toSeconds(elapsedNanos));
  }
}
