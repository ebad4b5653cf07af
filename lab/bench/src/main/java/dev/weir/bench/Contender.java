package dev.weir.bench;

import com.github.benmanes.caffeine.cache.Caffeine;
import dev.weir.Algorithm;
import dev.weir.Ticker;
import dev.weir.bench.peers.Bucket4jLimiter;
import dev.weir.bench.peers.Bucket4jProxyLimiter;
import dev.weir.bench.peers.DequeLimiter;
import dev.weir.bench.peers.GuavaLimiter;
import dev.weir.bench.peers.KeyedLimiter;
import dev.weir.bench.peers.Resilience4jLimiter;
import dev.weir.bench.peers.WeirAllowLimiter;
import dev.weir.bench.peers.WeirDecisionLimiter;
import dev.weir.bench.peers.WeirLimiter;
import io.github.bucket4j.TimeMeter;
import io.github.bucket4j.caffeine.Bucket4jCaffeine;

/** The limiters that are compared, by the names used in parameters and tables. */
enum Contender {
  WEIR_TOKEN_BUCKET("weir-token-bucket"),
  WEIR_LEAKY_BUCKET("weir-leaky-bucket"),
  WEIR_FIXED_WINDOW("weir-fixed-window"),
  WEIR_COUNTER("weir-sliding-window-counter"),
  WEIR_BUCKETS("weir-sliding-window-buckets"),
  WEIR_LOG("weir-sliding-window-log"),
  WEIR_DECISION("weir-decision"),
  WEIR_ALLOW("weir-allow"),
  BUCKET4J("bucket4j"),
  BUCKET4J_CAFFEINE("bucket4j-caffeine"),
  RESILIENCE4J("resilience4j"),
  GUAVA("guava"),
  DEQUES("deques");

  private final String text;

  Contender(String text) {
    this.text = text;
  }

  /** Returns a limiter without keys, by its default clock. */
  KeyedLimiter limiter(Load load) {
    return limiter(load, Ticker.system(), TimeMeter.SYSTEM_MILLISECONDS);
  }

  /**
   * Returns a limiter without keys.
   *
   * @param ticker the time for Weir and the deques
   * @param bucket4jTime the time for Bucket4j; the other peers read the system's clock
   */
  KeyedLimiter limiter(Load load, Ticker ticker, TimeMeter bucket4jTime) {
    return switch (this) {
      case WEIR_TOKEN_BUCKET -> new WeirLimiter(Algorithm.TOKEN_BUCKET, load, ticker);
      case WEIR_LEAKY_BUCKET -> new WeirLimiter(Algorithm.LEAKY_BUCKET, load, ticker);
      case WEIR_FIXED_WINDOW -> new WeirLimiter(Algorithm.FIXED_WINDOW, load, ticker);
      case WEIR_COUNTER -> new WeirLimiter(Algorithm.SLIDING_WINDOW_COUNTER, load, ticker);
      case WEIR_BUCKETS -> new WeirLimiter(Algorithm.SLIDING_WINDOW_BUCKETS, load, ticker);
      case WEIR_LOG -> new WeirLimiter(Algorithm.SLIDING_WINDOW_LOG, load, ticker);
      case WEIR_DECISION -> new WeirDecisionLimiter(load, ticker);
      case WEIR_ALLOW -> new WeirAllowLimiter(load, ticker);
      case BUCKET4J -> new Bucket4jLimiter(load, bucket4jTime);
      case BUCKET4J_CAFFEINE -> bucket4jInCaffeine(load, bucket4jTime);
      case RESILIENCE4J -> new Resilience4jLimiter(load);
      case GUAVA -> new GuavaLimiter(load);
      case DEQUES -> new DequeLimiter(load, ticker);
    };
  }

  private static KeyedLimiter bucket4jInCaffeine(Load load, TimeMeter time) {
    return new Bucket4jProxyLimiter(
        Bucket4jCaffeine.<String>builderFor(Caffeine.newBuilder()).clientClock(time).build(),
        Bucket4jLimiter.bandwidth(load));
  }

  /**
   * Returns the contender of that name.
   *
   * @throws IllegalArgumentException if there is no such contender
   */
  static Contender of(String text) {
    for (Contender contender : values()) {
      if (contender.text.equals(text)) {
        return contender;
      }
    }
    throw new IllegalArgumentException(
        "limiter: " + text + " (expected: one of " + java.util.List.of(values()) + ")");
  }

  @Override
  public String toString() {
    return text;
  }
}
