package dev.weir.bench;

/** The keys that are limited: texts of 15 letters and digits, such as a user's number. */
public final class Keys {
  /** The number of keys that limiters get: enough for every run. */
  public static final int MOST = 100_000_000;

  private Keys() {}

  /**
   * Returns that many keys.
   *
   * @throws IllegalArgumentException if the number is out of range
   */
  public static String[] of(int count) {
    if (count < 1 || count > MOST) {
      throw new IllegalArgumentException("keys: " + count + " (expected: 1.." + MOST + ")");
    }
    String[] keys = new String[count];
    for (int i = 0; i < count; i++) {
      keys[i] = key(i);
    }
    return keys;
  }

  /**
   * Returns a key that the caller has hashed already: computed, since reading it from an array
   * would be measured too. [Steele, Lea and Flood, SplitMix, 2014]
   */
  static long hashed(int number) {
    long z = (number + 1) * 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Returns the key of that number, a new object each time. */
  static String key(int number) {
    return "user-" + (1_000_000_000L + number * 7L);
  }
}
