package dev.weir.siege.cluster;

import dev.weir.siege.SiegeRule;
import dev.weir.siege.Target;
import dev.weir.siege.guests.RespGuest;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The permits that clients were given for keys whose window is longer than any siege, to be
 * compared with the permits that the members have charged for them. Safe for use by many threads.
 */
final class Accounts {
  /*
   * What must hold? No admitted permit may be forgotten: admitted <= charged. No permit may be
   * charged twice: charged <= requested. In between are permits that were requested without a known
   * answer: they may be charged, and refunded. Clients go on while a key is compared, so the first
   * number is read before the comparison and the last after it.
   */

  private static final long MOMENT_MILLIS = 50;

  /**
   * The sums over all keys.
   *
   * @param admitted the admitted permits by the clients' answers
   * @param charged the charged permits by the members' counts
   * @param asked the permits that clients have requested
   * @param forgotten the permits of keys that were admitted and are not charged
   * @param twice the permits of keys that are charged and were not requested
   */
  record Balance(long admitted, long charged, long asked, long forgotten, long twice) {}

  /** The permits of a key. */
  private static final class Account {
    private long asked;
    private long admitted;
  }

  // Guarded by this object's lock.
  private final Map<String, Account> accounts = new HashMap<>();

  /** Counts permits that are about to be requested. */
  synchronized void requested(String key, int permits) {
    accounts.computeIfAbsent(key, each -> new Account()).asked += permits;
  }

  /** Counts permits that were requested before and are admitted. */
  synchronized void admitted(String key, int permits) {
    accounts.computeIfAbsent(key, each -> new Account()).admitted += permits;
  }

  private synchronized Map<String, Long> admitted() {
    Map<String, Long> permits = new HashMap<>();
    accounts.forEach((key, account) -> permits.put(key, account.admitted));
    return permits;
  }

  private synchronized long requested(String key) {
    return accounts.computeIfAbsent(key, each -> new Account()).asked;
  }

  /**
   * Compares the clients' and the members' permits. A leader's count without its log may be older
   * than its count before. So a key that seems to be forgotten is compared again, for some time.
   *
   * @throws IOException if the member does not answer
   */
  Balance balance(Target member, Duration patience) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    Map<String, Long> before = admitted();
    long[] sums = new long[5];
    try (RespGuest guest = new RespGuest(member, false)) {
      for (Map.Entry<String, Long> each : before.entrySet()) {
        String key = each.getKey();
        long admitted = each.getValue();
        long charged = charged(guest, key);
        while (charged < admitted && System.nanoTime() - deadline < 0) {
          TimeUnit.MILLISECONDS.sleep(MOMENT_MILLIS);
          charged = charged(guest, key);
        }
        long asked = requested(key);
        sums[0] += admitted;
        sums[1] += charged;
        sums[2] += asked;
        sums[3] += Math.max(0, admitted - charged);
        sums[4] += Math.max(0, charged - asked);
      }
    }
    return new Balance(sums[0], sums[1], sums[2], sums[3], sums[4]);
  }

  private static long charged(RespGuest guest, String key) throws IOException {
    SiegeRule rule = ClusterRules.ACCOUNT;
    return rule.permits() - guest.remaining(rule.name(), key);
  }
}
