package dev.weir.engine;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Rule;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of one descriptor with a limit, as a {@link DecisionObserver} receives it. The
 * descriptor and the status may be made only when they are read: an observer that samples does not
 * read them. Valid only during the call that passes it, and on that thread.
 */
public interface DecidedDescriptor {
  /** Returns the rule that decided, or null if the request brought a limit of its own. */
  @Nullable Rule rule();

  /**
   * Returns the fingerprint of the key under which the limit counts; the same value under another
   * limit is another key.
   */
  long fingerprint();

  /** Returns whether this descriptor is one of those that refused the request. */
  boolean refused();

  /** Returns the descriptor, immutable. */
  Descriptor descriptor();

  /** Returns the decision and the limit that made it, immutable. */
  Status status();
}
