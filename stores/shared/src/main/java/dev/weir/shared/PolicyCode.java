package dev.weir.shared;

/** The encoding of a policy and its keys for a transport; made by {@link Link#code}. Immutable. */
public interface PolicyCode {
  /**
   * Returns the name under which the store keeps a key's state, as its operators find it there.
   * Default: an empty text, for a store that shows no keys.
   */
  default String shownKey(long fingerprint) {
    return "";
  }
}
