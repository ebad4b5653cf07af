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
 * What clients were given of keys whose window is longer than any siege, to be compared with what
 * the members have charged for it. Safe for use by many threads.
 */
final class Accounts {
  /*
   * What must be so? Nothing that was admitted may be forgotten: admitted <= charged. Nothing may be
   * charged twice: charged <= asked for. In between is what was asked for without a known answer: it
   * may be charged, and given back. Clients go on while a key is looked at, so the first is read
   * before that and the last after it.
   */

  private static final long MOMENT_MILLIS = 50;

  /**
   * All keys together.
   *
   * @param admitted permits, as clients were answered
   * @param charged permits, as the members have it
   * @param asked permits that clients have asked for
   * @param forgotten permits of keys that were admitted and are not charged
   * @param twice permits of keys that are charged and were not asked for
   */
  record Balance(long admitted, long charged, long asked, long forgotten, long twice) {}

  /** Permits of a key. */
  private static final class Account {
    private long asked;
    private long admitted;
  }

  // Guarded by this.
  private final Map<String, Account> accounts = new HashMap<>();

  /** Permits are about to be asked for. */
  synchronized void asked(String key, int permits) {
    accounts.computeIfAbsent(key, each -> new Account()).asked += permits;
  }

  /** Permits were admitted that were asked for before. */
  synchronized void admitted(String key, int permits) {
    accounts.computeIfAbsent(key, each -> new Account()).admitted += permits;
  }

  private synchronized Map<String, Long> admitted() {
    Map<String, Long> permits = new HashMap<>();
    accounts.forEach((key, account) -> permits.put(key, account.admitted));
    return permits;
  }

  private synchronized long asked(String key) {
    return accounts.computeIfAbsent(key, each -> new Account()).asked;
  }

  /**
   * Compares. What a leader says without its log may be older than what it was before: so a key
   * that seems to be forgotten is looked at again, for some time.
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
        long asked = asked(key);
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
