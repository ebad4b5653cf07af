package dev.weir.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a reset.
 *
 * @param keys in the order of the descriptors; empty if there is a problem with the whole request
 * @param revision the number of the rules that determined the keys
 * @param problem why the request makes no sense, or null
 */
public record ResetResult(List<Key> keys, long revision, @Nullable String problem) {
  /** The result for one descriptor's key. */
  public enum Key {
    /** The key had been used, and its use is forgotten. */
    FORGOTTEN,
    /** There was nothing to forget, or a shared store has not answered. */
    UNUSED,
    /** Nothing limits the descriptor. */
    NO_LIMIT,
    /** The store of the limit cannot forget a single key. */
    FAILED
  }

  public ResetResult {
    keys = List.copyOf(keys);
  }
}
