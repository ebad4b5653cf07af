package dev.weir.http.outgoing;

import dev.weir.Ticker;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The services that have refused requests until some instant, by host and key. It holds a bounded
 * number of refusals, and removes the oldest first. Safe for use by many threads.
 */
final class RememberedRefusals {
  /**
   * The most refusals: more hosts and keys than one process has refusals of within the longest
   * time.
   */
  static final int MAX_ENTRIES = 65_536;

  /**
   * A host and a key, as the first half of their SHA-256. A key may be a credential, which must not
   * stay in memory for longer than its request, and may have any length.
   */
  record HostKey(long high, long low) {
    static HostKey of(String host, int port, String key) {
      byte[] hash =
          sha256().digest((host + ':' + port + '\n' + key).getBytes(StandardCharsets.UTF_8));
      ByteBuffer words = ByteBuffer.wrap(hash);
      return new HostKey(words.getLong(), words.getLong());
    }

    private static MessageDigest sha256() {
      try {
        return MessageDigest.getInstance("SHA-256");
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("SHA-256: missing (expected: in every JDK)", e);
      }
    }
  }

  /**
   * The refusal of a service.
   *
   * @param status 429 or 503
   * @param sinceNanos the time at which it arrived
   * @param untilNanos the time at which it is over
   */
  record Refusal(int status, long sinceNanos, long untilNanos) {}

  private final Ticker ticker;
  private final int maxEntries;
  private final ReentrantLock lock = new ReentrantLock();

  /** The refusals in the order in which they were added. Guarded by the lock. */
  private final Map<HostKey, Refusal> refusals = new LinkedHashMap<>();

  /** Written under the lock, read without it: usually there is nothing to find. */
  private volatile int size;

  RememberedRefusals(Ticker ticker, int maxEntries) {
    this.ticker = ticker;
    this.maxEntries = maxEntries;
  }

  int size() {
    return size;
  }

  /** Adds a refusal; of two for one host and key, the one that lasts longer is kept. */
  void remember(HostKey place, int status, long nanos) {
    long now = ticker.nanos();
    Refusal refusal = new Refusal(status, now, now + nanos);
    lock.lock();
    try {
      Refusal before = refusals.remove(place);
      refusals.put(
          place,
          before != null && before.untilNanos > refusal.untilNanos
              ? new Refusal(before.status, now, before.untilNanos)
              : refusal);
      if (refusals.size() > maxEntries) {
        Iterator<HostKey> oldest = refusals.keySet().iterator();
        oldest.next();
        oldest.remove();
      }
      size = refusals.size();
    } finally {
      lock.unlock();
    }
  }

  /** Finds a refusal that is not over, or null. */
  @Nullable Refusal find(HostKey place) {
    if (size == 0) {
      return null;
    }
    long now = ticker.nanos();
    lock.lock();
    try {
      Refusal refusal = refusals.get(place);
      if (refusal == null || refusal.untilNanos > now) {
        return refusal;
      }
      refusals.remove(place);
      size = refusals.size();
      return null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Removes a refusal because the service has answered a request that was sent after it. An answer
   * to an earlier request does not count: it may have been overtaken.
   */
  void forget(HostKey place, long sentNanos) {
    lock.lock();
    try {
      Refusal refusal = refusals.get(place);
      if (refusal != null && refusal.sinceNanos <= sentNanos) {
        refusals.remove(place);
        size = refusals.size();
      }
    } finally {
      lock.unlock();
    }
  }
}
