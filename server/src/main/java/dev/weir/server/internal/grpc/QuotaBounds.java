package dev.weir.server.internal.grpc;

import dev.weir.Fingerprint;
import dev.weir.Ticker;
import dev.weir.protocol.envoy.BucketId;
import dev.weir.rules.Rule;
import dev.weir.server.internal.log.FewLines;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;

/**
 * The bounds on the buckets of all Envoys together, and the fingerprints that identify buckets
 * without their texts. Safe for use by many threads.
 */
final class QuotaBounds {
  private final int maxBuckets;
  private final int maxDomain;
  private final FewLines log;
  private final RecentBuckets recent;
  private final Fingerprint fingerprint = Fingerprint.random();
  private final AtomicInteger buckets = new AtomicInteger();
  private final AtomicLong streams = new AtomicLong();

  /** The rules of one revision for which a line has been logged. Guarded by itself. */
  private final Set<Rule> warned = new HashSet<>();

  private long warnedRevision = -1;

  /**
   * @param maxBuckets the most buckets with an assignment at a time
   * @param maxDomain the most characters of a domain
   */
  QuotaBounds(int maxBuckets, int maxDomain, Ticker ticker) {
    this.maxBuckets = maxBuckets;
    this.maxDomain = maxDomain;
    log = new FewLines(ticker);
    recent = new RecentBuckets(ticker);
  }

  /**
   * Returns the number of a new stream: the buckets of two streams differ even if their entries are
   * the same.
   */
  long stream() {
    return streams.incrementAndGet();
  }

  /**
   * Returns the fingerprint of a bucket, whose entries have no order. Two buckets with the same
   * fingerprint by chance share their state: the requests of one that passed before its assignment
   * are not counted.
   */
  long fingerprint(long stream, String domain, BucketId id) {
    long sum = stream;
    for (Map.Entry<String, String> entry : id.getBucketMap().entrySet()) {
      sum += fingerprint.add(fingerprint.of(entry.getKey()), entry.getValue());
    }
    return fingerprint.add(fingerprint.of(sum), domain);
  }

  RecentBuckets recent() {
    return recent;
  }

  /** Takes a place for one more bucket; returns whether there was one. */
  boolean take() {
    if (buckets.incrementAndGet() <= maxBuckets) {
      return true;
    }
    buckets.decrementAndGet();
    return false;
  }

  void giveBack(int places) {
    buckets.addAndGet(-places);
  }

  /** Returns the number of buckets that have an assignment now. */
  int buckets() {
    return buckets.get();
  }

  int maxBuckets() {
    return maxBuckets;
  }

  int maxDomain() {
    return maxDomain;
  }

  void warn(String line) {
    boolean unused = log.write(Level.WARNING, "rate_limit_quota: " + line);
  }

  /** Logs the problem with a rule, once for a revision of the rules. */
  void warn(Rule rule, long revision, String problem) {
    synchronized (warned) {
      if (revision != warnedRevision) {
        warned.clear();
        warnedRevision = revision;
      }
      if (!warned.add(rule)) {
        return;
      }
    }
    warn("rule " + rule.path() + ": " + problem);
  }
}
