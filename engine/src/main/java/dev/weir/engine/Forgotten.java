package dev.weir.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a reset has come to.
 *
 * @param keys in the order of the descriptors; empty if there is a problem with the whole request
 * @param revision of the rules that said which keys these are
 * @param problem why the request makes no sense, or null
 */
public record Forgotten(List<Key> keys, long revision, @Nullable String problem) {
  /** What became of one descriptor's key. */
  public enum Key {
    /** It had been used, and that is forgotten. */
    FORGOTTEN,
    /** There was nothing to forget, or a shared store has not answered. */
    UNUSED,
    /** Nothing limits the descriptor. */
    NO_LIMIT,
    /** Its store cannot forget a single key. */
    FAILED
  }

  public Forgotten {
    keys = List.copyOf(keys);
  }
}
