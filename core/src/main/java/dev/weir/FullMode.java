package dev.weir;

/**
 * The treatment of a new key when the key space is full. A live key is never forgotten to make
 * room.
 */
public enum FullMode {
  /** The new key is denied with {@link Reason#KEY_SPACE_FULL}. */
  DENY,

  /**
   * The new key shares a limit with other new keys whose fingerprints begin alike: a sketch of
   * fixed size that counts each key at least in full, so it may deny too often but never admits too
   * much.
   */
  SKETCH
}
