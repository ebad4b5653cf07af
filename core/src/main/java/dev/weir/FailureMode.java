package dev.weir;

/** What a policy answers when its store cannot know. */
public enum FailureMode {
  /** Refuses, with the reason that the store has. */
  DENY,

  /** Lets the request pass, with the reason that the store has. */
  ALLOW,

  /**
   * Decides in this process, by the policy's {@linkplain Sharing#localShare() share} of the quota.
   * A store that is in this process anyway has no other to turn to, and refuses.
   */
  LOCAL
}
