package dev.weir.cluster.internal.peer;

/**
 * Tells a connection that delivers nothing any more from one whose other side has nothing to say.
 * Belongs to an event loop, which looks every {@link #LOOK_MILLIS}.
 *
 * <p>Time is counted in looks, between which the loop has read what was there: however long this
 * process stood still, that is one look, and what came meanwhile is heard before it is given up.
 */
final class PeerSilence {
  static final long LOOK_MILLIS = 250;

  /** After so many looks without a word, the other side is asked whether it is there. */
  private static final int ASKED = 2;

  /** After so many it is given up: 2.5 s. */
  private static final int GIVEN_UP = 10;

  /** The slowest connection takes so much of a request between two looks: 1 MB/s. */
  private static final long BYTES_A_LOOK = 250_000;

  /** What is to be done. */
  enum Finding {
    /** The other side owes nothing. */
    IDLE,
    WAIT,
    /** It is to be asked for an answer that costs it nothing. */
    ASK,
    GONE
  }

  private boolean owed;
  private int looks;

  /** Takes note that something was sent that is to be answered. */
  void sent() {
    owed = true;
  }

  /** Takes note that something was read, or that the connection is a new one. */
  void heard() {
    owed = false;
    looks = 0;
  }

  /**
   * Looks.
   *
   * @param open requests without an answer yet; those that were given up do not count
   * @param bytes of these requests
   */
  Finding look(int open, long bytes) {
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
