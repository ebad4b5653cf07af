package dev.weir.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bound of a request's body that a server reads while the request waits for its decision or its
 * turn: 2 MiB for one request, and 64 MiB for all of a process, at most a sixteenth of its heap. A
 * server reads on as long as {@link #add} permits it, keeps the parts for the application, and
 * calls {@link #release} when the wait is over. Safe for use by many threads.
 */
public final class WaitingBody {
  /*
   * Why is a body read before it is known whether anything will use it? The end of a connection
   * comes behind the bytes that were sent before it, so a server that does not read them never
   * notices that the client has gone: its request keeps its place in the queue, and is served to
   * nobody. A server that reads all of them keeps what any client sends. So it reads up to a bound
   * for each request, and one for all of them, and stops there.
   */

  /** The most bytes of one request, enough for most uploads. */
  static final long MOST_BYTES = 2 << 20;

  /** The bytes that each part of a body counts besides its own: its objects, and spare room. */
  static final long PART_BYTES = 1024;

  private static final long MOST_BYTES_OF_ALL = 64L << 20;
  private static final int HEAP_SHARE = 16;
  private static final Total ALL =
      new Total(Math.min(MOST_BYTES_OF_ALL, Runtime.getRuntime().maxMemory() / HEAP_SHARE));

  /** The bytes of all requests together. */
  static final class Total {
    private final long most;
    private final AtomicLong held = new AtomicLong();

    /**
     * @param most the most bytes
     */
    Total(long most) {
      this.most = most;
    }

    long held() {
      return held.get();
    }
  }

  private final Total total;

  // Guarded by this.
  private long held;
  private boolean released;

  /** Makes the bound of a request, of which nothing has been read. */
  public WaitingBody() {
    this(ALL);
  }

  WaitingBody(Total total) {
    this.total = total;
  }

  /**
   * Counts a part that was read.
   *
   * @param bytes its length, at least 0
   * @return whether another part may be read: false if this request, or all of them, hold as much
   *     as they may
   */
  public synchronized boolean add(int bytes) {
    if (released) {
      return true;
    }
    long counted = bytes + PART_BYTES;
    held += counted;
    return total.held.addAndGet(counted) < total.most && held < MOST_BYTES;
  }

  /**
   * Ends the wait: what was read, and will be, counts no more. Only the first call has an effect.
   */
  public synchronized void release() {
    if (!released) {
      released = true;
      total.held.addAndGet(-held);
    }
  }
}
