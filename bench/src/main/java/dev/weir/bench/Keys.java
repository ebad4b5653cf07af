package dev.weir.bench;

/** The keys that are limited: texts of 15 letters and digits, such as a user's number. */
final class Keys {
  private static final int MOST = 100_000_000;

  private Keys() {}

  /**
   * Returns that many keys.
   *
   * @throws IllegalArgumentException if the number is out of range
   */
  static String[] of(int count) {
    if (count < 1 || count > MOST) {
      throw new IllegalArgumentException("keys: " + count + " (expected: 1.." + MOST + ")");
    }
    String[] keys = new String[count];
    for (int i = 0; i < count; i++) {
      keys[i] = key(i);
    }
    return keys;
  }

  /** Returns the key of that number, a new object each time. */
  static String key(int number) {
    return "user-" + (1_000_000_000L + number * 7L);
  }
}
