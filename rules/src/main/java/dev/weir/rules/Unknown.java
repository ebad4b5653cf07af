package dev.weir.rules;

/**
 * What a rule with {@code by} does with a request while it is not known which limits its subject
 * has.
 */
public enum Unknown {
  /**
   * The request waits for them, for a bounded time; after that it is answered as the rule's {@code
   * on_failure} says.
   */
  WAIT,
  /** The request is decided by the rule's own numbers, at once. */
  RULE,
  /** The request is refused at once. */
  DENY
}
