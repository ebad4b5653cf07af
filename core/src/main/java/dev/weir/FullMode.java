package dev.weir;

/**
 * What becomes of a key that is new when the key space is full. A live key is never forgotten to
 * make room.
 */
public enum FullMode {
  /** It is denied with {@link Reason#KEY_SPACE_FULL}. */
  DENY,

  /**
   * It shares a limit with other keys that are new, those whose fingerprints begin alike: a sketch
   * of fixed size that counts each key at least in full, so it may deny too often but never admits
   * too much.
   */
  SKETCH
}
