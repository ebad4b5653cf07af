package dev.weir.redis;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;

/**
 * A call that finds out whether a shard decides: it counts a permit of a new key, which takes every
 * command that a decision may take.
 */
final class Probe {
  /** The longest lifetime of the key. */
  private static final Duration LIFE = Duration.ofMillis(100);

  private static final byte[] MESSAGE =
      Message.ofOnePermit(
          Policy.builder(Quota.of(1, LIFE)).algorithm(Algorithm.FIXED_WINDOW).build());

  private Probe() {}

  /** Returns the message of the call. */
  static byte[] message() {
    return MESSAGE.clone();
  }

  /**
   * Returns the name of a new key.
   *
   * @param prefix with which all keys begin
   * @param fits returns true for suitable names; at least one in 16384 must be
   */
  static byte[] key(String prefix, Predicate<? super byte[]> fits) {
    for (long number = ThreadLocalRandom.current().nextLong(1L << 62); ; number++) {
      byte[] key = (prefix + ":probe" + number).getBytes(StandardCharsets.UTF_8);
      if (fits.test(key)) {
        return key;
      }
    }
  }
}
