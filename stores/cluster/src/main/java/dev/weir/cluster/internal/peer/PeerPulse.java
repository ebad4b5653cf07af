package dev.weir.cluster.internal.peer;

import dev.weir.Ticker;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The round-trip times of other members for a request without work. Safe for many threads. */
public final class PeerPulse {
  private static final int KIND = PeerFrame.FIRST_REQUEST + 40;
  private static final long ANSWER_MILLIS = 1_000;

  private final Ticker ticker;
  private final Map<String, Long> roundTrips = new ConcurrentHashMap<>();

  public PeerPulse(Ticker ticker) {
    this.ticker = ticker;
  }

  /**
   * Registers the handler of other members' requests, on the event loop, since they need no work.
   */
  public static void answerAt(PeerDoor door) {
    door.registerForAll(
        KIND, Runnable::run, (from, payload) -> CompletableFuture.completedStage(payload));
  }

  /** Returns a request that any member answers at once. */
  static PeerFrame question(long call) {
    return new PeerFrame(KIND, call, new byte[0]);
  }

  /** Sends a request to a member; to be called about once a second. */
  public void beat(String member, PeerLink link) {
    long begun = ticker.nanos();
    Object unused =
        link.call(KIND, new byte[0], ANSWER_MILLIS)
            .whenComplete(
                (reply, problem) -> {
                  if (reply == null) {
                    roundTrips.remove(member);
                  } else {
                    roundTrips.put(member, ticker.nanos() - begun);
                  }
                });
  }

  /** Returns the last round trip of each member that answered the last request, in nanoseconds. */
  public Map<String, Long> roundTrips() {
    return Map.copyOf(roundTrips);
  }
}
