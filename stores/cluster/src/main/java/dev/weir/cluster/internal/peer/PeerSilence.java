package dev.weir.cluster.internal.peer;

/**
 * A detector that distinguishes a connection which delivers nothing any more from one whose other
 * side has nothing to send. Belongs to an event loop, which calls {@link #check} every {@link
 * #LOOK_MILLIS}.
 *
 * <p>Time is counted in looks, between which the loop has read what was there: however long this
 * process stood still, that is one look, and bytes that came meanwhile are read before the
 * connection is given up.
 */
final class PeerSilence {
  static final long LOOK_MILLIS = 250;

  /** The number of looks without a byte after which the other side is probed. */
  private static final int ASKED = 2;

  /** The number of looks after which the connection is given up: 2.5 s. */
  private static final int GIVEN_UP = 10;

  /** The part of a request that the slowest connection carries between two looks: 1 MB/s. */
  private static final long BYTES_A_LOOK = 250_000;

  /** The findings of a look. */
  enum Finding {
    /** The other side owes nothing. */
    IDLE,
    WAIT,
    /** The other side should be sent a request that costs it nothing. */
    ASK,
    GONE
  }

  private boolean owed;
  private int looks;

  /** Notes that something was sent that needs an answer. */
  void sent() {
    owed = true;
  }

  /** Notes that something was read, or that the connection is a new one. */
  void received() {
    owed = false;
    looks = 0;
  }

  /**
   * Returns the finding of one look.
   *
   * @param open requests without an answer yet; those that were given up do not count
   * @param bytes of these requests
   */
  Finding check(int open, long bytes) {
    owed |= open > 0;
    if (!owed) {
      return Finding.IDLE;
    }
    looks++;
    if (looks >= GIVEN_UP + bytes / BYTES_A_LOOK) {
      return Finding.GONE;
    }
    return looks == ASKED ? Finding.ASK : Finding.WAIT;
  }
}
