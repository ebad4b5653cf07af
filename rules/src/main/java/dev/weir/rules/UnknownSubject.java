package dev.weir.rules;

/**
 * The treatment of a request by a rule with {@code by} while the limits of its subject are not
 * known.
 */
public enum UnknownSubject {
  /**
   * The request waits for them, for a bounded time; after that it is answered by the rule's {@code
   * on_failure}.
   */
  WAIT,
  /** The request is decided by the rule's own numbers, at once. */
  RULE,
  /** The request is refused at once, whatever the rule's {@code on_failure}. */
  DENY
}
