package dev.weir;

/** The answer of a policy while its store cannot decide. */
public enum FailureMode {
  /** The request is refused, with the store's reason. */
  DENY,

  /** The request is allowed, with the store's reason. */
  ALLOW,

  /**
   * This process decides, by the policy's {@linkplain Sharing#localShare() share} of the quota. A
   * store that is in this process anyway has no other to use, and refuses.
   */
  LOCAL
}
